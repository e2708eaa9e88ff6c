#include "cli/model/name_classes.h"

#include <algorithm>
#include <iterator>

#include "cli/model/characters.h"

namespace cli {
namespace {

constexpr std::string_view kCommFamilies[] = {"nccl", "rccl", "msccl", "oneccl"};
// Where a function's name begins so, or has it behind its namespaces: NVSHMEM's src/device, DeepEP's csrc/kernels,
// TransformerEngine's userbuffers.cu, PyTorch's symm_mem/CUDASymmetricMemoryOps.cu, vLLM's custom_all_reduce.cuh and
// quickreduce, TensorRT-LLM's customAllReduceKernels.cu and allReduceFusionKernels.cu, which FlashInfer has too.
constexpr std::string_view kExchangeFamilies[] = {"nvshmem", "deep_ep", "userbuffers_fp16", "kuserbuffers_", "quickreduce"};
constexpr std::string_view kExchangeWords[] = {
    "cross_device_reduce_",      "one_shot_all_reduce_kernel", "two_shot_all_reduce_kernel", "multimem_all_reduce_kernel",
    "multimem_all_gather_kernel", "multimem_one_shot_",         "oneShotAllReduceKernel",     "twoShotAllReduceKernel",
    "allreduce_fusion_kernel_"};
// So that few names are asked for each: one of these is in all.
constexpr std::string_view kExchangeParts[] = {"educe", "multimem_"};
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

constexpr bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
constexpr bool has_exchange_part(std::string_view text) {
  return std::any_of(std::begin(kExchangeParts), std::end(kExchangeParts), [&](auto part) { return has(text, part); });
}
static_assert(std::all_of(std::begin(kExchangeWords), std::end(kExchangeWords), has_exchange_part));

struct Direction {
  std::string_view words;
  DerivedTrack track;
};
constexpr Direction kDirections[] = {
    {"HtoD", DerivedTrack::copy_h2d},           {"HtoA", DerivedTrack::copy_h2d},
    {"HostToDevice", DerivedTrack::copy_h2d},   {"DtoH", DerivedTrack::copy_d2h},
    {"AtoH", DerivedTrack::copy_d2h},           {"DeviceToHost", DerivedTrack::copy_d2h},
    {"DtoD", DerivedTrack::copy_d2d},           {"DtoA", DerivedTrack::copy_d2d},
    {"AtoD", DerivedTrack::copy_d2d},           {"AtoA", DerivedTrack::copy_d2d},
    {"DeviceToDevice", DerivedTrack::copy_d2d}, {"PtoP", DerivedTrack::copy_peer},
    {"PeerToPeer", DerivedTrack::copy_peer},
};
// So that few names are asked for each: "to" with a letter behind it that may follow there.
constexpr bool may_have_direction(std::string_view name) {
  for (std::size_t at = name.find('o', 1); at < name.size() - 1; at = name.find('o', at + 1)) {
    if (lower(name[at - 1]) == 't' && std::string_view("ADHP").find(name[at + 1]) != name.npos) return true;
  }
  return false;
}
static_assert(std::all_of(std::begin(kDirections), std::end(kDirections), [](const Direction& direction) { return may_have_direction(direction.words); }));

}  // namespace

bool is_comm_name(std::string_view kernel) {
  const std::string_view function = function_of(kernel);
  return std::any_of(std::begin(kCommFamilies), std::end(kCommFamilies), [&](auto family) { return function.starts_with(family); });
}

bool is_exchange_name(std::string_view kernel) {
  const std::string_view function = function_of(kernel);
  const std::string_view own = kernel.starts_with("_Z") ? function : function.substr(0, function.find_first_of("<("));
  return std::any_of(std::begin(kExchangeFamilies), std::end(kExchangeFamilies), [&](auto family) { return function.starts_with(family); }) ||
         (has_exchange_part(own) && std::any_of(std::begin(kExchangeWords), std::end(kExchangeWords), [&](auto word) { return has(own, word); }));
}

bool is_gemm_name(std::string_view kernel) {
  return std::any_of(std::begin(kGemmWords), std::end(kGemmWords), [&](auto word) { return contains(kernel, word); });
}

std::optional<DerivedTrack> copy_track(std::string_view name) {
  if (!may_have_direction(name)) return std::nullopt;
  for (const Direction& direction : kDirections) {
    if (has(name, direction.words)) return direction.track;
  }
  return std::nullopt;
}

bool is_launch_name(std::string_view call) {
  if (has(call, "HostFunc")) return false;
  return has(call, "Launch") || has(call, "Memcpy") || has(call, "Memset");
}

bool is_sync_name(std::string_view call) { return has(call, "Synchronize"); }

bool is_async_name(std::string_view call) { return has(call, "Async"); }

bool is_graph_launch_name(std::string_view call) { return has(call, "GraphLaunch"); }

bool is_allocation_name(std::string_view call) {
  const bool any = call.starts_with("cudaMalloc") || call.starts_with("hipMalloc") || call.starts_with("cuMemAlloc") || call.starts_with("cuMemCreate");
  return any && !has(call, "Host") && !has(call, "Async") && !has(call, "Pool");
}

bool is_release_name(std::string_view call) {
  const bool any = call.starts_with("cudaFree") || call.starts_with("hipFree") || call.starts_with("cuMemFree") || call.starts_with("cuMemRelease");
  return any && !has(call, "Host") && !has(call, "Async");
}

bool is_launch_flow_name(std::string_view category) { return category == "ac2g" || category == "async_cpu_to_gpu"; }

const NameClasses::Class& NameClasses::learn(StringId name) {
  if (name >= classes_.size()) classes_.resize(std::max<std::size_t>(strings_->size(), name + std::size_t{1}));
  const std::string_view text = (*strings_)[name];
  return classes_[name] = {true, is_comm_name(text), is_exchange_name(text), is_launch_name(text), is_graph_launch_name(text), is_async_name(text), is_sync_name(text), text == "ncclGroupEnd", copy_track(text)};
}

}  // namespace cli
