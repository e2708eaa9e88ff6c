#include "cli/trace/names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "cli/base/text.h"
#include "cli/trace/short_name.h"

namespace cli {

namespace {

// Names of communication kernels. They are compared with the kernel function's qualified name, without return type,
// template arguments, parameters and anonymous namespaces.
enum class NamePart : std::uint8_t {
  library,     // the name begins with it; these libraries' collectives are matched over ranks
  identifier,  // the function or one of its namespaces begins with it
  inside,      // anywhere in the name
  word,        // anywhere in the name, ignoring case and underscores: AllReduce, all_reduce
};
struct CommunicationName {
  NamePart part;
  std::string_view text;
};
constexpr CommunicationName kCommunicationNames[] = {
    // NCCL, RCCL (src/device), MSCCL and MSCCL++, oneCCL
    {NamePart::library, "nccl"},
    {NamePart::library, "rccl"},
    {NamePart::library, "msccl"},
    {NamePart::library, "oneccl"},
    // DeepEP (csrc/kernels/intranode.cu, internode.cu, internode_ll.cu: dispatch, combine, notify_dispatch,
    // cached_notify, ...), its copies in Primus-Turbo and UCCL, DeepSeek's published profiles
    // (dpsk::ep::internode::dispatch), and DeepEP's hybrid-ep branch
    {NamePart::identifier, "deep_ep"},
    {NamePart::identifier, "intranode"},
    {NamePart::identifier, "internode"},
    {NamePart::identifier, "hybrid_ep"},
    // MORI (src/ops/dispatch_combine: EpDispatchIntraNodeKernel, EpCombineInterNodeV1Kernel, ...)
    {NamePart::identifier, "EpDispatch"},
    {NamePart::identifier, "EpCombine"},
    // TensorRT-LLM (kernels/communicationKernels/moeAlltoAllKernels.cu), also in FlashInfer
    {NamePart::identifier, "moeA2A"},
    // pplx-garden (a2a_dispatch_send_kernel, a2a_combine_recv_kernel, ...)
    {NamePart::identifier, "a2a_dispatch"},
    {NamePart::identifier, "a2a_combine"},
    // NVSHMEM (src/device; src/host/stream: barrier_on_stream_kernel_threadgroup)
    {NamePart::identifier, "nvshmem"},
    {NamePart::inside, "_on_stream_kernel"},
    // TransformerEngine (comm_gemm_overlap/userbuffers/userbuffers.cu)
    {NamePart::identifier, "userbuffers_fp16"},
    {NamePart::identifier, "kuserbuffers_"},
    // PyTorch's symmetric memory (c10d/symm_mem: CUDASymmetricMemory.cu, CUDASymmetricMemoryOps.cu, nvshmem_extension.cu)
    {NamePart::identifier, "symmetric_memory"},
    {NamePart::identifier, "multimem_"},
    {NamePart::identifier, "put_signal_kernel"},
    {NamePart::identifier, "wait_signal_kernel"},
    {NamePart::identifier, "exchangeSplitAndOffset"},
    // vLLM and SGLang (custom_all_reduce.cuh), vLLM's quickreduce
    {NamePart::word, "crossdevicereduce"},
    {NamePart::identifier, "quickreduce"},
    // TensorRT-LLM (allReduceFusionKernels.cu, namespace ar_fusion)
    {NamePart::identifier, "ar_fusion"},
    // Kernels named after a collective: one_shot_all_reduce_kernel (PyTorch), twoShotAllReduceKernel (TensorRT-LLM),
    // allreduce_fusion_kernel_oneshot_lamport (FlashInfer), aiter::reduce_scatter_cross_device_store,
    // moeAllToAllKernel, users' Triton kernels
    {NamePart::word, "allreduce"},
    {NamePart::word, "allgather"},
    {NamePart::word, "reducescatter"},
    {NamePart::word, "alltoall"},
    {NamePart::word, "all2all"},
};
// Names of compute kernels that contain one of the names above: Inductor's kernels, whose names list the operators next
// to which they were fused; kernels that multiply matrices and communicate; and DeepEP's layout kernel, which counts
// tokens on its own GPU.
constexpr CommunicationName kComputeNames[] = {
    {NamePart::library, "triton_"},
    {NamePart::word, "gemm"},
    {NamePart::word, "matmul"},
    {NamePart::word, "megamoe"},
    {NamePart::identifier, "get_dispatch_layout"},
};
constexpr std::string_view kGemmWords[] = {"gemm",      "gemv",       "nvjet_",      "xmma_",
                                           "triton_mm", "triton_bmm", "triton_tem_", "cijk_a"};

constexpr std::string_view kNameless = "(anonymous namespace)::", kUnnamed = "<unnamed>::",
                           kMangledNameless = "12_GLOBAL__N_1";

// Returns the function's own name with its namespaces, except anonymous ones: the part after a template's return type,
// or after the length in a mangled name.
std::string_view function_of(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  while (name.starts_with(kNameless)) name.remove_prefix(kNameless.size());
  if (!name.starts_with("_Z")) return name;
  name.remove_prefix(name.starts_with("_ZN") ? 3 : 2);
  while (name.starts_with(kMangledNameless)) name.remove_prefix(kMangledNameless.size());
  return name.substr(std::min(name.find_first_not_of("0123456789"), name.size()));
}

// `word` has to be in lower case.
bool contains(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

constexpr bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
// Returns the function's name with its namespaces.
std::string qualified_name(std::string_view kernel) {
  std::string name = demangled(kernel);
  std::string_view rest = name.empty() ? kernel : name;
  if (rest.starts_with("void ")) rest.remove_prefix(5);
  std::string qualified;
  while (!rest.empty()) {
    const std::size_t nameless = rest.starts_with(kNameless)  ? kNameless.size()
                                 : rest.starts_with(kUnnamed) ? kUnnamed.size()
                                                              : 0;
    if (nameless == 0 && (rest[0] == '<' || rest[0] == '(')) break;
    if (nameless == 0) qualified += rest[0];
    rest.remove_prefix(std::max<std::size_t>(nameless, 1));
  }
  return qualified;
}

class ComparedName {
 public:
  explicit ComparedName(std::string_view kernel) : name_(qualified_name(kernel)) {
    for (const char c : name_) {
      if (c != '_') words_ += lower(c);
    }
  }
  template <std::size_t Count>
  bool is_any_of(const CommunicationName (&names)[Count]) const {
    return std::any_of(std::begin(names), std::end(names),
                       [&](const CommunicationName& each) { return has_part(each); });
  }

 private:
  bool has_part(const CommunicationName& each) const {
    switch (each.part) {
      case NamePart::library:
        return name_.starts_with(each.text);
      case NamePart::inside:
        return has(name_, each.text);
      case NamePart::word:
        return has(words_, each.text);
      case NamePart::identifier:
        break;
    }
    for (std::size_t at = name_.find(each.text); at != name_.npos; at = name_.find(each.text, at + 1)) {
      // In a mangled name, the name follows its length
      if (at == 0 || name_[at - 1] == ':' || (name_.starts_with("_Z") && is_digit(name_[at - 1]))) return true;
    }
    return false;
  }

  std::string name_, words_;
};

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
// A cheap filter before the exact comparison: the name contains "to" followed by a letter that can follow it.
constexpr bool may_have_direction(std::string_view name) {
  for (std::size_t at = name.find('o', 1); at < name.size() - 1; at = name.find('o', at + 1)) {
    if (lower(name[at - 1]) == 't' && std::string_view("ADHP").find(name[at + 1]) != name.npos) return true;
  }
  return false;
}
static_assert(std::all_of(std::begin(kDirections), std::end(kDirections),
                          [](const Direction& direction) { return may_have_direction(direction.words); }));

}  // namespace

bool is_comm_name(std::string_view kernel) {
  const std::string_view function = function_of(kernel);
  return std::any_of(
      std::begin(kCommunicationNames), std::end(kCommunicationNames),
      [&](const CommunicationName& each) { return each.part == NamePart::library && function.starts_with(each.text); });
}

bool is_exchange_name(std::string_view kernel) {
  if (is_comm_name(kernel)) return false;
  const ComparedName name(kernel);
  return name.is_any_of(kCommunicationNames) && !name.is_any_of(kComputeNames);
}

bool is_gemm_name(std::string_view kernel) {
  return function_of(kernel).starts_with("bmm_") ||
         std::any_of(std::begin(kGemmWords), std::end(kGemmWords), [&](auto word) { return contains(kernel, word); });
}

std::optional<DerivedTrack> copy_track(std::string_view name) {
  if (!may_have_direction(name)) return std::nullopt;
  for (const Direction& direction : kDirections) {
    if (has(name, direction.words)) return direction.track;
  }
  return std::nullopt;
}

bool is_collective_range_name(std::string_view range) {
  return range.starts_with("nccl:") || range.starts_with("c10d::");
}

bool is_launch_name(std::string_view call) {
  if (has(call, "HostFunc")) return false;
  return has(call, "Launch") || has(call, "Memcpy") || has(call, "Memset");
}

bool is_sync_name(std::string_view call) { return has(call, "Synchronize"); }

bool is_async_name(std::string_view call) { return has(call, "Async"); }

bool is_graph_launch_name(std::string_view call) { return has(call, "GraphLaunch"); }

bool is_allocation_name(std::string_view call) {
  const bool any = call.starts_with("cudaMalloc") || call.starts_with("hipMalloc") || call.starts_with("cuMemAlloc") ||
                   call.starts_with("cuMemCreate");
  return any && !has(call, "Host") && !has(call, "Async") && !has(call, "Pool");
}

bool is_release_name(std::string_view call) {
  const bool any = call.starts_with("cudaFree") || call.starts_with("hipFree") || call.starts_with("cuMemFree") ||
                   call.starts_with("cuMemRelease");
  return any && !has(call, "Host") && !has(call, "Async");
}

bool is_launch_flow_name(std::string_view category) { return category == "ac2g" || category == "async_cpu_to_gpu"; }

const NameClasses::Class& NameClasses::learn(StringId name) {
  if (name >= classes_.size()) classes_.resize(std::max<std::size_t>(strings_->size(), name + std::size_t{1}));
  const std::string_view text = (*strings_)[name];
  return classes_[name] = {true,
                           is_comm_name(text),
                           is_launch_name(text),
                           is_graph_launch_name(text),
                           is_async_name(text),
                           is_sync_name(text),
                           text == "ncclGroupEnd",
                           copy_track(text)};
}

}  // namespace cli
