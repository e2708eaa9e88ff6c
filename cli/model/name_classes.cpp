#include "cli/model/name_classes.h"

#include <algorithm>
#include <iterator>

#include "cli/model/characters.h"

namespace cli {
namespace {

constexpr std::string_view kCommFamilies[] = {"nccl", "rccl", "msccl", "oneccl"};
constexpr std::string_view kGemmWords[] = {"gemm",      "gemv",       "nvjet_",      "xmma_",
                                           "triton_mm", "triton_bmm", "triton_tem_", "cijk_a"};

constexpr std::string_view kNameless = "(anonymous namespace)::", kMangledNameless = "12_GLOBAL__N_1";

// Where the function's own name begins, with its namespaces but for nameless ones: behind what templates return, and behind
// the length in a mangled name.
std::string_view function_of(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  while (name.starts_with(kNameless)) name.remove_prefix(kNameless.size());
  if (!name.starts_with("_Z")) return name;
  name.remove_prefix(name.starts_with("_ZN") ? 3 : 2);
  while (name.starts_with(kMangledNameless)) name.remove_prefix(kMangledNameless.size());
  return name.substr(std::min(name.find_first_not_of("0123456789"), name.size()));
}

// `word` is in lower case.
bool contains(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

struct Direction {
  std::string_view words;
  DerivedRow row;
};
constexpr Direction kDirections[] = {
    {"HtoD", DerivedRow::copy_h2d},           {"HtoA", DerivedRow::copy_h2d},
    {"HostToDevice", DerivedRow::copy_h2d},   {"DtoH", DerivedRow::copy_d2h},
    {"AtoH", DerivedRow::copy_d2h},           {"DeviceToHost", DerivedRow::copy_d2h},
    {"DtoD", DerivedRow::copy_d2d},           {"DtoA", DerivedRow::copy_d2d},
    {"AtoD", DerivedRow::copy_d2d},           {"AtoA", DerivedRow::copy_d2d},
    {"DeviceToDevice", DerivedRow::copy_d2d}, {"PtoP", DerivedRow::copy_peer},
    {"PeerToPeer", DerivedRow::copy_peer},
};

}  // namespace

bool is_comm_name(std::string_view kernel) {
  const std::string_view function = function_of(kernel);
  return std::any_of(std::begin(kCommFamilies), std::end(kCommFamilies), [&](auto family) { return function.starts_with(family); });
}

bool is_gemm_name(std::string_view kernel) {
  return std::any_of(std::begin(kGemmWords), std::end(kGemmWords), [&](auto word) { return contains(kernel, word); });
}

std::optional<DerivedRow> copy_row(std::string_view name) {
  for (const Direction& direction : kDirections) {
    if (has(name, direction.words)) return direction.row;
  }
  return std::nullopt;
}

bool is_launch_name(std::string_view call) {
  if (has(call, "HostFunc")) return false;
  return has(call, "Launch") || has(call, "Memcpy") || has(call, "Memset");
}

bool is_launch_flow_name(std::string_view category) { return category == "ac2g" || category == "async_cpu_to_gpu"; }

const NameClasses::Class& NameClasses::learn(StringId name) {
  if (name >= classes_.size()) classes_.resize(std::max<std::size_t>(strings_->size(), name + std::size_t{1}));
  const std::string_view text = (*strings_)[name];
  return classes_[name] = {true, is_comm_name(text), is_launch_name(text), text == "ncclGroupEnd", copy_row(text)};
}

}  // namespace cli
