#include "cli/model/name_classes.h"

#include <algorithm>

#include "cli/model/kernel_names.h"

namespace cli {
namespace {

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
  return classes_[name] = {true, is_nccl_name(text), is_launch_name(text), text == "ncclGroupEnd", copy_row(text)};
}

}  // namespace cli
