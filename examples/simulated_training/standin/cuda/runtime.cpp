// The CUDA runtime, as if libcudart were part of this library. Each call is a runtime call that makes driver calls with
// the same correlation id. Kernels are named by the handle of cuModuleGetFunction.
#include "call.h"
#include "cbids.h"
#include "launch.h"

namespace sim {
namespace {

cudaError_t runtime_error(CUresult result) { return static_cast<cudaError_t>(result); }

thread_local int t_device = 0;

// The primary context of the thread's device, made current, as the runtime does it at the first call that needs one.
CUresult use_primary() {
  CUcontext context = nullptr;
  if (current_context() != nullptr && current_context()->device == static_cast<std::uint32_t>(t_device)) {
    return CUDA_SUCCESS;
  }
  if (const CUresult result = cuInit(0); result != CUDA_SUCCESS) return result;
  if (const CUresult result = cuDevicePrimaryCtxRetain(&context, t_device); result != CUDA_SUCCESS) return result;
  return cuCtxSetCurrent(context);
}

CUcontext primary_of(int device) {
  CUcontext context = nullptr;
  cuDevicePrimaryCtxRetain(&context, device);
  return context;
}

CUresult copy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  const auto to = reinterpret_cast<CUdeviceptr>(dst);
  const auto from = reinterpret_cast<CUdeviceptr>(src);
  if (kind == cudaMemcpyHostToDevice) return cuMemcpyHtoDAsync(to, src, bytes, stream);
  if (kind == cudaMemcpyDeviceToHost) return cuMemcpyDtoHAsync(dst, from, bytes, stream);
  if (kind == cudaMemcpyDeviceToDevice) return cuMemcpyDtoDAsync(to, from, bytes, stream);
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace
}  // namespace sim

using namespace sim;

cudaError_t cudaSetDevice(int device) {
  SIM_RUNTIME_CALL(cudaSetDevice_v3020);
  if (device < 0 || static_cast<std::uint32_t>(device) >= device_count()) return call.end(cudaErrorInvalidDevice);
  t_device = device;
  return call.end(runtime_error(use_primary()));
}

cudaError_t cudaGetDevice(int* device) {
  SIM_RUNTIME_CALL(cudaGetDevice_v3020);
  *device = t_device;
  return call.end(cudaSuccess);
}

cudaError_t cudaGetLastError() {
  SIM_RUNTIME_CALL(cudaGetLastError_v3020);
  return call.end(cudaSuccess);
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  SIM_RUNTIME_CALL(cudaMalloc_v3020);
  return call.end(runtime_error(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(memory), bytes)));
}

cudaError_t cudaFree(void* memory) {
  SIM_RUNTIME_CALL(cudaFree_v3020);
  return call.end(runtime_error(cuMemFree(reinterpret_cast<CUdeviceptr>(memory))));
}

cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaMallocAsync_v11020);
  return call.end(runtime_error(cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(memory), bytes, stream)));
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaFreeAsync_v11020);
  return call.end(runtime_error(cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(memory), stream)));
}

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned int flags) {
  SIM_RUNTIME_CALL(cudaHostAlloc_v3020);
  return call.end(runtime_error(cuMemHostAlloc(memory, bytes, flags)));
}

cudaError_t cudaFreeHost(void* memory) {
  SIM_RUNTIME_CALL(cudaFreeHost_v3020);
  return call.end(runtime_error(cuMemFreeHost(memory)));
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                             cudaStream_t stream) {
  const cudaLaunchKernel_v7000_params seen{function, grid, block, args, shared, stream};
  const void* const known = device_function(function);
  SIM_RUNTIME_CALL(cudaLaunchKernel_v7000, &seen, function_name(known));
  const auto handle = reinterpret_cast<CUfunction>(const_cast<void*>(known));
  return call.end(runtime_error(cuLaunchKernel(handle, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                               static_cast<unsigned int>(shared), stream, args, nullptr)));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args) {
  const cudaLaunchKernelExC_v11060_params seen{config, function, args};
  const void* const known = device_function(function);
  SIM_RUNTIME_CALL(cudaLaunchKernelExC_v11060, &seen, function_name(known));
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));  // the same to the last byte
  CUlaunchConfig same{};
  same.gridDimX = config->gridDim.x, same.gridDimY = config->gridDim.y, same.gridDimZ = config->gridDim.z;
  same.blockDimX = config->blockDim.x, same.blockDimY = config->blockDim.y, same.blockDimZ = config->blockDim.z;
  same.sharedMemBytes = static_cast<unsigned int>(config->dynamicSmemBytes);
  same.hStream = config->stream;
  same.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
  same.numAttrs = config->numAttrs;
  const auto handle = reinterpret_cast<CUfunction>(const_cast<void*>(known));
  return call.end(runtime_error(cuLaunchKernelEx(&same, handle, args, nullptr)));
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaMemcpyAsync_v3020);
  return call.end(runtime_error(copy(dst, src, bytes, kind, stream)));
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t bytes, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaMemcpyPeerAsync_v4000);
  return call.end(
      runtime_error(cuMemcpyPeerAsync(reinterpret_cast<CUdeviceptr>(dst), primary_of(to),
                                      reinterpret_cast<CUdeviceptr>(src), primary_of(from), bytes, stream)));
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaMemsetAsync_v3020);
  const auto byte = static_cast<unsigned char>(value);
  return call.end(runtime_error(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(memory), byte, bytes, stream)));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  SIM_RUNTIME_CALL(cudaStreamCreateWithFlags_v5000);
  return call.end(runtime_error(cuStreamCreate(stream, flags)));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaStreamSynchronize_v3020);
  return call.end(runtime_error(cuStreamSynchronize(stream)));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  SIM_RUNTIME_CALL(cudaStreamWaitEvent_v3020);
  return call.end(runtime_error(cuStreamWaitEvent(stream, event, flags)));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  SIM_RUNTIME_CALL(cudaEventCreateWithFlags_v3020);
  return call.end(runtime_error(cuEventCreate(event, flags)));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaEventRecord_v3020);
  return call.end(runtime_error(cuEventRecord(event, stream)));
}

cudaError_t cudaDeviceSynchronize() {
  SIM_RUNTIME_CALL(cudaDeviceSynchronize_v3020);
  return call.end(runtime_error(cuCtxSynchronize()));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  SIM_RUNTIME_CALL(cudaEventSynchronize_v3020);
  return call.end(runtime_error(cuEventSynchronize(event)));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  SIM_RUNTIME_CALL(cudaEventQuery_v3020);
  return call.end(runtime_error(cuEventQuery(event)));
}

cudaError_t cudaDeviceReset() {
  SIM_RUNTIME_CALL(cudaDeviceReset_v3020);
  return call.end(runtime_error(cuDevicePrimaryCtxReset(t_device)));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  SIM_RUNTIME_CALL(cudaStreamCreateWithPriority_v5050);
  return call.end(runtime_error(cuStreamCreateWithPriority(stream, flags, priority)));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  SIM_RUNTIME_CALL(cudaStreamBeginCapture_v10000);
  return call.end(runtime_error(cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode))));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  SIM_RUNTIME_CALL(cudaStreamEndCapture_v10000);
  return call.end(runtime_error(cuStreamEndCapture(stream, graph)));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  SIM_RUNTIME_CALL(cudaStreamIsCapturing_v10000);
  CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = cuStreamIsCapturing(stream, &found);
  *status = static_cast<cudaStreamCaptureStatus>(found);
  return call.end(runtime_error(result));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  SIM_RUNTIME_CALL(cudaGraphInstantiateWithFlags_v11040);
  return call.end(runtime_error(cuGraphInstantiateWithFlags(exec, graph, flags)));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  SIM_RUNTIME_CALL(cudaGraphLaunch_v10000);
  return call.end(runtime_error(cuGraphLaunch(exec, stream)));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  SIM_RUNTIME_CALL(cudaGraphExecDestroy_v10000);
  return call.end(runtime_error(cuGraphExecDestroy(exec)));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  SIM_RUNTIME_CALL(cudaGraphDestroy_v10000);
  return call.end(runtime_error(cuGraphDestroy(graph)));
}
