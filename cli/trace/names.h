// Classification of range, operator, call and kernel names.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/base/text.h"
#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"
#include "cli/trace/payload.h"

namespace cli {

// Predicates of names. NameClasses evaluates them once per string.

// Returns true for a kernel of a library whose collectives are matched over ranks (NCCL, RCCL, MSCCL, oneCCL). The name
// may be mangled.
bool is_comm_name(std::string_view kernel);

// Returns true for a kernel of any other library that moves data between GPUs: expert parallelism (DeepEP, MORI,
// TensorRT-LLM, FlashInfer), NVSHMEM, symmetric memory, and every kernel named after a collective. The name may be
// mangled. The table of names is in names.cpp.
bool is_exchange_name(std::string_view kernel);

// Returns true for a matrix multiplication kernel of cuBLAS, CUTLASS, Triton's templates, rocBLAS (Tensile) or
// TensorRT-LLM (bmm_). The name may be mangled.
bool is_gemm_name(std::string_view kernel);

// Returns the direction of a copy from the words of CUPTI and Kineto ("Memcpy HtoD (Pinned -> Device)"; arrays count as
// device memory) or HIP ("CopyHostToDevice"). Empty for copies within the host.
std::optional<DerivedTrack> copy_track(std::string_view name);

// Returns true for calls that queue GPU work: cudaLaunchKernelExC, cuLaunchKernel, cudaGraphLaunch, cudaMemcpyAsync,
// cuMemsetD32Async, hipModuleLaunchKernel, ... Launches of host functions do not count.
bool is_launch_name(std::string_view call);
// Returns true for PyTorch's operators and annotations of collectives, which describe the kernels launched in them:
// "c10d::alltoall_base_", "nccl:all_to_all".
bool is_collective_range_name(std::string_view range);

// Returns true for calls that only wait for the GPU: cudaStreamSynchronize, cuCtxSynchronize, hipEventSynchronize, ...
bool is_sync_name(std::string_view call);

// Returns true for copy calls that return before the copy is done if the memory allows it (cudaMemcpyAsync).
bool is_async_name(std::string_view call);

// Returns true for cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch.
bool is_graph_launch_name(std::string_view call);

// Returns true for calls that allocate device memory in the driver: cudaMalloc, cuMemAlloc_v2, cuMemCreate, hipMalloc,
// ... Host memory, asynchronous allocations and pools do not count.
bool is_allocation_name(std::string_view call);

// Returns true for calls that release such memory and wait for the GPU: cudaFree, cuMemFree_v2, cuMemRelease, hipFree.
bool is_release_name(std::string_view call);

// Returns true for Kineto's category of flows from a launch to its work.
bool is_launch_flow_name(std::string_view category);

class NameClasses {
 public:
  explicit NameClasses(const Strings& strings) : strings_(&strings) {}

  struct Class {
    bool known = false, communicates = false, launches = false, launches_graph = false, is_async = false,
         synchronizes = false, ends_nccl_group = false;
    std::optional<DerivedTrack> copy;
  };
  const Class& operator[](StringId name) {
    return name < classes_.size() && classes_[name].known ? classes_[name] : learn(name);
  }

 private:
  const Class& learn(StringId name);

  const Strings* strings_;
  std::vector<Class> classes_;
};

// Returns true if the operator belongs to autograd's backward pass.
inline bool is_backward(const OperatorFacts& op) {
  return (op.has & OperatorFacts::kForwardThread) != 0 && op.forward_thread != 0;
}

// The phase of a training step, from the name of a range.
enum class TrainingPhase : std::uint8_t { forward, backward, optimizer };

// Returns true if the first word of `name` is `word`, which is in lower case: "## forward ##" and "Forward 3" begin
// with "forward".
inline bool begins_with_word(std::string_view name, std::string_view word) {
  const auto is_letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
  const auto from = std::find_if(name.begin(), name.end(), is_letter);
  const auto to = std::find_if_not(from, name.end(), is_letter);
  return std::equal(from, to, word.begin(), word.end(), [](char a, char b) { return lower(a) == b; });
}

// Empty if the name contains no phase. Recognizes PyTorch's names (Optimizer.step#AdamW.step, Optimizer.zero_grad#...,
// ranges of autograd's engine, DistributedDataParallel.forward) and names that begin with the word.
inline std::optional<TrainingPhase> training_phase(std::string_view range) {
  if (begins_with_word(range, "optimizer")) return TrainingPhase::optimizer;
  const bool is_autograd =
      range.starts_with("autograd::engine::evaluate_function") || range.starts_with("torch::autograd::");
  if (is_autograd || begins_with_word(range, "backward")) return TrainingPhase::backward;
  if (range.ends_with("DataParallel.forward") || begins_with_word(range, "forward")) return TrainingPhase::forward;
  return std::nullopt;
}

// Returns true for ranges that contain work of the backward pass but do not mark its extent: PyTorch up to 1.8 names
// only the accumulation of gradients.
inline bool tells_no_phase(std::string_view range) { return range.starts_with("torch::autograd::"); }

}  // namespace cli
