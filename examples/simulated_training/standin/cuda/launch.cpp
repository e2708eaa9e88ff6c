#include "launch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "../true_clock.h"
#include "../work.h"
#include "attach.h"
#include "cbids.h"
#include "executor.h"
#include "graph.h"
#include "notes.h"
#include "truth.h"

namespace sim {
namespace {

constexpr std::uint64_t kLoadNs = 20'000;
// CUpti_ActivityOverheadKind; older headers lack the names.
constexpr std::uint32_t kLazyFunctionLoading = 5u << 16, kCommandBufferFull = 6u << 16;
constexpr std::uint64_t kTransferSetupNs = 1'300;
constexpr std::uint64_t kHostBytesPerUs = 52'000;       // PCIe 5 x16
constexpr std::uint64_t kPageableBytesPerUs = 5'000;    // through a buffer of the driver's; assumed
constexpr std::uint64_t kPeerBytesPerUs = 380'000;      // NVLink 4
constexpr std::uint64_t kDeviceBytesPerUs = 2'600'000;  // HBM3

thread_local bool t_communicates = false;

// What a kernel takes that does not say it: SIM_KERNEL_NS.
std::uint64_t usual_kernel_ns() {
  static const std::uint64_t ns = [] {
    const char* text = std::getenv("SIM_KERNEL_NS");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : kDefaultKernelNs;
  }();
  return ns;
}

KernelWork work_of(void** params) {
  KernelWork work;
  if (params != nullptr && params[0] != nullptr) std::memcpy(&work, params[0], sizeof(work));
  if (params != nullptr && params[0] != nullptr && work.magic == kWorkMagic) return work;
  work = KernelWork{};
  work.duration_ns = usual_kernel_ns();
  return work;
}

std::uint64_t bytes_per_us(const DeviceEvent& event) {
  if (event.kind == DeviceKind::memset) return kDeviceBytesPerUs;
  if (event.kind == DeviceKind::memcpy_peer) return kPeerBytesPerUs;
  if (event.src_memory == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE) return kPageableBytesPerUs;
  return event.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD ? kDeviceBytesPerUs / 2 : kHostBytesPerUs;
}

// Which kernel of the process is the one that breaks its context; 0: none.
std::uint64_t fatal_after() {
  static const std::uint64_t number = [] {
    const char* text = std::getenv("SIM_FATAL_AFTER");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 0ull;
  }();
  return number;
}

bool is_faulty(const Op& op) {
  static std::atomic<std::uint64_t> s_kernels{0};
  if (fatal_after() == 0 || op.kind != OpKind::work || op.event.kind != DeviceKind::kernel) return false;
  return ++s_kernels == fatal_after();
}

CUresult queue(const Call& call, CUstream handle, Op&& op) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  op.event.communicates = t_communicates;
  return capture_work(*stream, op) ? CUDA_SUCCESS : enqueue(call.correlation(), *stream, std::move(op));
}

// The first launch of a function loads it, as with CUDA_MODULE_LOADING=LAZY.
void load(const Call& call, const Function& function) {
  if (function.loaded.exchange(true)) return;
  const std::uint64_t start_ns = true_ns();
  while (true_ns() < start_ns + kLoadNs) {
  }
  tell_overhead(call.correlation(), kLazyFunctionLoading, current_context(), start_ns);
}

// cuda.h, CUlaunchAttributeValue::clusterDim: each dimension divides that of the grid.
bool is_whole(Dim3 grid, Dim3 cluster) {
  const auto divides = [](std::uint32_t size, std::uint32_t by) { return by != 0 && size % by == 0; };
  const bool none = cluster.x == 0 && cluster.y == 0 && cluster.z == 0;
  return none || (divides(grid.x, cluster.x) && divides(grid.y, cluster.y) && divides(grid.z, cluster.z));
}

LaunchKind kind_of(const CUlaunchConfig& config) {
  LaunchKind kind;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& each = config.attrs[i];
    if (each.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      kind.cluster = {each.value.clusterDim.x, each.value.clusterDim.y, each.value.clusterDim.z};
    } else if (each.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && each.value.cooperative != 0) {
      kind.type = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
    }
  }
  return kind;
}

}  // namespace

CUresult enqueue(std::uint32_t correlation, Stream& stream, Op&& op) {
  if (stream.context->failed) return CUDA_ERROR_ILLEGAL_ADDRESS;
  op.event.correlation = correlation;
  op.event.device = stream.context->device;
  op.event.context = stream.context->id;
  op.event.stream = stream.id;
  op.event.seq = next_seq();
  op.faulty = is_faulty(op);
  if (const Bridge* to = bridge()) to->reserve_device(op.event);
  if (op.duration_ns == kNeverEnds) write_truth_of(op.event);  // a forced flush tells it, without times
  const std::uint64_t start_ns = true_ns();
  if (submit(stream, std::move(op))) tell_overhead(correlation, kCommandBufferFull, stream.context, start_ns);
  return CUDA_SUCCESS;
}

CUresult launch(const Call& call, CUfunction handle, Dim3 grid, Dim3 block, std::uint32_t shared_bytes, CUstream stream,
                void** params, const LaunchKind& kind) {
  const Function* function = find_function(handle);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (std::min({grid.x, grid.y, grid.z, block.x, block.y, block.z}) == 0) return CUDA_ERROR_INVALID_VALUE;
  if (std::uint64_t{block.x} * block.y * block.z > 1'024) return CUDA_ERROR_INVALID_VALUE;
  if (!is_whole(grid, kind.cluster)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  load(call, *function);
  const KernelWork work = work_of(function->takes_work ? params : nullptr);
  Op op;
  op.duration_ns = work.duration_ns;
  op.meeting = work.meeting;
  op.event.kind = DeviceKind::kernel;
  op.event.name = function->name.c_str();
  std::memcpy(op.event.grid, &grid, sizeof(grid));
  std::memcpy(op.event.block, &block, sizeof(block));
  op.event.registers = function->registers;
  op.event.static_shared_bytes = function->static_shared_bytes;
  op.event.dynamic_shared_bytes = shared_bytes;
  op.event.local_bytes = function->local_bytes;
  op.event.launch_type = kind.type;
  std::memcpy(op.event.cluster, &kind.cluster, sizeof(kind.cluster));
  return queue(call, stream, std::move(op));
}

CUresult transfer(const Call& call, CUstream stream, DeviceEvent event) {
  Op op;
  op.duration_ns = kTransferSetupNs + event.bytes * 1'000 / bytes_per_us(event);
  op.event = event;
  return queue(call, stream, std::move(op));
}

}  // namespace sim

using namespace sim;

SIM_EXPORT void simulated_communicates(int yes) { t_communicates = yes != 0; }

CUresult cuLaunchKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** params, void** extra) {
  const cuLaunchKernel_params seen{f,       grid_x,       grid_y, grid_z, block_x, block_y,
                                   block_z, shared_bytes, stream, params, extra};
  SIM_DRIVER_CALL(cuLaunchKernel, &seen, function_name(f));
  return call.end(launch(call, f, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, params));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** params, void** extra) {
  const cuLaunchKernelEx_params seen{config, f, params, extra};
  SIM_DRIVER_CALL(cuLaunchKernelEx, &seen, function_name(f));
  return call.end(launch(call, f, {config->gridDimX, config->gridDimY, config->gridDimZ},
                         {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                         config->hStream, params, kind_of(*config)));
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared_bytes, CUstream stream, void** params) {
  const cuLaunchCooperativeKernel_params seen{f,       grid_x,  grid_y,       grid_z, block_x,
                                              block_y, block_z, shared_bytes, stream, params};
  SIM_DRIVER_CALL(cuLaunchCooperativeKernel, &seen, function_name(f));
  return call.end(launch(call, f, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, params,
                         {{}, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE}));
}
