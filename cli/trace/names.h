// What the names of ranges, operators and kernels tell.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/base/text.h"
#include "cli/trace/derived.h"
#include "cli/trace/payload.h"

namespace cli {

// What names say of what is called so; NameClasses looks it up once per string.

// A kernel of a library of collectives that are matched over ranks (NCCL, RCCL, MSCCL, oneCCL), mangled or demangled.
bool is_comm_name(std::string_view kernel);

// A kernel of another library that moves data between GPUs, mangled or demangled: expert parallelism (DeepEP, MORI, TensorRT-LLM,
// FlashInfer), NVSHMEM, symmetric memory, and every collective by name. One table has the names.
bool is_exchange_name(std::string_view kernel);

// A kernel that is a matrix product of cuBLAS, CUTLASS, Triton's templates, rocBLAS (Tensile) or TensorRT-LLM (bmm_); mangled or demangled.
bool is_gemm_name(std::string_view kernel);

// Which way a copy goes, by the words of CUPTI and Kineto ("Memcpy HtoD (Pinned -> Device)"; arrays count as the
// device) and of HIP ("CopyHostToDevice"). None within the host.
std::optional<DerivedTrack> copy_track(std::string_view name);

// Calls that put work into a queue of the GPU: cudaLaunchKernelExC, cuLaunchKernel, cudaGraphLaunch, cudaMemcpyAsync,
// cuMemsetD32Async, hipModuleLaunchKernel, ... Host functions are not the GPU's.
bool is_launch_name(std::string_view call);
// PyTorch's operators and annotations of collectives, which say what the kernels do that are launched in them: "c10d::alltoall_base_",
// "nccl:all_to_all".
bool is_collective_range_name(std::string_view range);

// Calls in which the host waits for the GPU and does nothing else: cudaStreamSynchronize, cuCtxSynchronize, hipEventSynchronize, ...
bool is_sync_name(std::string_view call);

// Of copies: those that return before they are done, where the memory allows it (cudaMemcpyAsync).
bool is_async_name(std::string_view call);

// cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch.
bool is_graph_launch_name(std::string_view call);

// Calls that ask the driver for memory of a device: cudaMalloc, cuMemAlloc_v2, cuMemCreate, hipMalloc, ... Memory of the host,
// asynchronous allocations and pools are none.
bool is_allocation_name(std::string_view call);

// Calls that give it back: cudaFree, cuMemFree_v2, cuMemRelease, hipFree. They wait for the GPU.
bool is_release_name(std::string_view call);

// The kind of a flow from a launch to its work, as Kineto names it.
bool is_launch_flow_name(std::string_view category);

class NameClasses {
 public:
  explicit NameClasses(const Strings& strings) : strings_(&strings) {}

  struct Class {
    bool known = false, communicates = false, launches = false, launches_graph = false, is_async = false, synchronizes = false, ends_nccl_group = false;
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

// Which way autograd goes through an operator.
inline bool is_backward(const OperatorFacts& op) { return (op.has & OperatorFacts::kForwardThread) != 0 && op.forward_thread != 0; }

// Which phase of a training step a range's name tells.
enum class TrainingPhase : std::uint8_t { forward, backward, optimizer };

// "## forward ##" and "Forward 3" begin with the word "forward", in lower case.
inline bool begins_with_word(std::string_view name, std::string_view word) {
  const auto is_letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
  const auto from = std::find_if(name.begin(), name.end(), is_letter);
  const auto to = std::find_if_not(from, name.end(), is_letter);
  return std::equal(from, to, word.begin(), word.end(), [](char a, char b) { return lower(a) == b; });
}

// None: the name tells none. PyTorch's: Optimizer.step#AdamW.step, Optimizer.zero_grad#..., what autograd's engine runs,
// DistributedDataParallel.forward; others that begin with the word.
inline std::optional<TrainingPhase> training_phase(std::string_view range) {
  if (begins_with_word(range, "optimizer")) return TrainingPhase::optimizer;
  const bool is_autograd = range.starts_with("autograd::engine::evaluate_function") || range.starts_with("torch::autograd::");
  if (is_autograd || begins_with_word(range, "backward")) return TrainingPhase::backward;
  if (range.ends_with("DataParallel.forward") || begins_with_word(range, "forward")) return TrainingPhase::forward;
  return std::nullopt;
}

// Its work is of the backward pass, but it does not tell where that is: PyTorch up to 1.8 names what accumulates gradients alone.
inline bool tells_no_phase(std::string_view range) { return range.starts_with("torch::autograd::"); }

}  // namespace cli
