#include "gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../standin/work.h"

namespace sim {
namespace {

constexpr std::size_t kDeviceBytes = 4ull << 30;

void check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "simulated_training: %s failed with %d\n", what, result);
  std::exit(2);
}

}  // namespace

void Gpu::begin_capture() {
  check(cudaStreamBeginCapture(compute_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
}

Graph Gpu::end_capture() {
  Graph graph{};
  check(cudaStreamEndCapture(compute_, &graph.captured), "cudaStreamEndCapture");
  check(cudaGraphInstantiateWithFlags(&graph.exec, graph.captured, 0), "cudaGraphInstantiateWithFlags");
  return graph;
}

void Gpu::launch(const Graph& graph) { check(cudaGraphLaunch(graph.exec, compute_), "cudaGraphLaunch"); }

void Gpu::destroy(const Graph& graph) {
  check(cudaStreamSynchronize(compute_), "cudaStreamSynchronize");
  check(cudaGraphExecDestroy(graph.exec), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph.captured), "cudaGraphDestroy");
}

void Gpu::use_pool() {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device_;
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  check(cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate");
  check(cuMemAllocFromPoolAsync(&memory, 3 << 20, pool, compute_), "cuMemAllocFromPoolAsync");
  check(cuMemFreeAsync(memory, compute_), "cuMemFreeAsync");
  check(cuMemPoolTrimTo(pool, 1 << 20), "cuMemPoolTrimTo");
  check(cuMemPoolDestroy(pool), "cuMemPoolDestroy");
}

void Gpu::allocate_and_free() {
  void* plain = nullptr;
  void* quick = nullptr;
  check(cudaMalloc(&plain, 64 << 20), "cudaMalloc");
  check(cudaMallocAsync(&quick, 5 << 20, compute_), "cudaMallocAsync");
  check(cudaFreeAsync(quick, compute_), "cudaFreeAsync");
  check(cudaFree(plain), "cudaFree");
}

CUfunction Gpu::send_receive_function() {
  const Kernel& kernel = send_receive_kernel();
  CUfunction& found = functions_[kernel.name];
  if (found == nullptr) check(cuModuleGetFunction(&found, module_, kernel.name), "cuModuleGetFunction");
  return found;
}

Gpu::Gpu(const Model& model, int device, int device_count, std::size_t batch_bytes, std::uint64_t seed)
    : model_(model),
      device_(device),
      peer_(device_count > 1 ? (device + 1) % device_count : -1),
      batch_bytes_(batch_bytes),
      random_(seed) {
  check(cuInit(0), "cuInit");
  check(cudaSetDevice(device), "cudaSetDevice");
  const std::string image = module_image(model);
  check(cuModuleLoadData(&module_, image.c_str()), "cuModuleLoadData");
  const auto load = [&](const Kernel& kernel) {
    check(cuModuleGetFunction(&functions_[kernel.name], module_, kernel.name), "cuModuleGetFunction");
  };
  for (const auto kernels : {model.forward, model.backward, model.loss, model.optimizer}) {
    std::for_each(kernels.begin(), kernels.end(), load);
  }
  load(all_reduce_kernel());
  check(cudaStreamCreateWithFlags(&compute_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaStreamCreateWithPriority(&communication_, cudaStreamNonBlocking, -5), "cudaStreamCreateWithPriority");
  check(cudaEventCreateWithFlags(&ready_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  check(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  check(cudaHostAlloc(&batch_, batch_bytes_, cudaHostAllocDefault), "cudaHostAlloc");
  check(cudaMalloc(&memory_, kDeviceBytes), "cudaMalloc");
}

void Gpu::close() {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaFreeHost(batch_), "cudaFreeHost");
  check(cuStreamDestroy(communication_), "cuStreamDestroy");
  check(cuStreamDestroy(compute_), "cuStreamDestroy");
  check(cuDevicePrimaryCtxRelease(device_), "cuDevicePrimaryCtxRelease");
}

void Gpu::use_here() const { check(cudaSetDevice(device_), "cudaSetDevice"); }

std::uint64_t Gpu::vary(std::uint64_t duration_ns) {
  random_ = random_ * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
  return duration_ns * (970 + (random_ >> 33) % 61) / 1'000;
}

void Gpu::launch(const Kernel& kernel, std::uint32_t scale, std::uint64_t duration_ns) {
  launch(compute_, kernel, scale, static_cast<std::uint64_t>(static_cast<double>(vary(duration_ns)) * slowness_));
}

void Gpu::launch(cudaStream_t stream, const Kernel& kernel, std::uint32_t scale, std::uint64_t duration_ns) const {
  KernelWork work;
  work.duration_ns = duration_ns;
  void* params[] = {&work};
  const CUfunction function = functions_.at(kernel.name);
  const std::uint32_t grid_x = kernel.grid_x * scale;
  if (kernel.cluster_x != 0) {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = kernel.cluster_x, cluster.val.clusterDim.y = kernel.cluster_y;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3{grid_x, kernel.grid_y, 1}, config.blockDim = dim3{kernel.block_x, 1, 1};
    config.dynamicSmemBytes = kernel.dynamic_shared_bytes, config.stream = stream;
    config.attrs = &cluster, config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(function), params), "cudaLaunchKernelExC");
  } else if (kernel.launcher == Launcher::cooperative) {
    check(cuLaunchCooperativeKernel(function, grid_x, kernel.grid_y, 1, kernel.block_x, 1, 1,
                                    kernel.dynamic_shared_bytes, stream, params),
          "cuLaunchCooperativeKernel");
  } else if (kernel.launcher == Launcher::driver) {
    check(cuLaunchKernel(function, grid_x, kernel.grid_y, 1, kernel.block_x, 1, 1, kernel.dynamic_shared_bytes, stream,
                         params, nullptr),
          "cuLaunchKernel");
  } else {
    check(cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3{grid_x, kernel.grid_y, 1},
                           dim3{kernel.block_x, 1, 1}, params, kernel.dynamic_shared_bytes, stream),
          "cudaLaunchKernel");
  }
}

void Gpu::begin_what_never_ends() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  KernelWork work;
  work.duration_ns = kNeverEnds;
  void* params[] = {&work};
  const CUfunction function = functions_.at(model_.forward.front().name);
  check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr), "cuLaunchKernel");
}

void Gpu::use_pageable() { pageable_ = std::make_unique<char[]>(batch_bytes_); }

void Gpu::copy_batch() {
  const void* const batch = pageable_ != nullptr ? pageable_.get() : batch_;
  check(cudaMemcpyAsync(memory_, batch, batch_bytes_, cudaMemcpyHostToDevice, compute_), "cudaMemcpyAsync");
  check(cudaMemcpyAsync(memory_, batch, batch_bytes_ / 2, cudaMemcpyHostToDevice, compute_), "cudaMemcpyAsync");
}

void Gpu::clear_gradients(std::size_t bytes) {
  check(cudaMemsetAsync(memory_, 0, std::min(bytes, kDeviceBytes), compute_), "cudaMemsetAsync");
}

void Gpu::copy_loss_and_wait() {
  check(cudaMemcpyAsync(batch_, memory_, sizeof(float), cudaMemcpyDeviceToHost, compute_), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(compute_), "cudaStreamSynchronize");
}

void Gpu::copy_to_peer(std::size_t bytes) {
  if (peer_ < 0) return;
  check(cudaMemcpyPeerAsync(memory_, peer_, memory_, device_, bytes, compute_), "cudaMemcpyPeerAsync");
}

void Gpu::wait() { check(cudaStreamSynchronize(compute_), "cudaStreamSynchronize"); }

void Gpu::follow(cudaStream_t first, cudaEvent_t event, cudaStream_t second) {
  check(cudaEventRecord(event, first), "cudaEventRecord");
  check(cudaStreamWaitEvent(second, event, 0), "cudaStreamWaitEvent");
}

void Gpu::let_communication_follow() { follow(compute_, ready_, communication_); }
void Gpu::let_compute_follow() { follow(communication_, done_, compute_); }

}  // namespace sim
