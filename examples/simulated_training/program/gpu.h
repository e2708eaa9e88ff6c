// The rank's GPU as the training uses it: streams, memory and kernels, through the runtime where PyTorch uses that and
// through the driver where Triton and NCCL do.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kernels.h"

namespace sim {

// A captured and instantiated graph.
struct Graph {
  cudaGraph_t captured;
  cudaGraphExec_t exec;
};

class Gpu {
 public:
  // Makes the device's primary context current: this is where the agent is injected. `seed`: of the kernel times.
  Gpu(const Model& model, int device, int device_count, std::size_t batch_bytes, std::uint64_t seed);
  // Kernels take so many times as long from now on, but for those of NCCL.
  void be_slower(double factor) { slowness_ = factor; }
  // Batches are copied from pageable memory from now on.
  void use_pageable();
  // Releases what was made, the context last.
  void close();
  // For other threads that launch.
  void use_here() const;

  // With a grid `scale` times the kernel's.
  void launch(const Kernel& kernel, std::uint32_t scale, std::uint64_t duration_ns);
  // The same where the caller says in which stream, and how long exactly; for any thread.
  void launch(cudaStream_t stream, const Kernel& kernel, std::uint32_t scale, std::uint64_t duration_ns) const;
  // In a stream of its own: whoever waits for the device waits forever.
  void begin_what_never_ends();
  void copy_batch();
  void clear_gradients(std::size_t bytes);
  // As loss.item() does.
  void copy_loss_and_wait();
  void copy_to_peer(std::size_t bytes);
  void wait();
  // The communication stream goes on when the compute stream is here, and the other way round. Each direction records
  // its one event again and again, as DDP and ProcessGroupNCCL do.
  void let_communication_follow();
  void let_compute_follow();

  // What is launched between the two becomes a graph. In the communication stream only what follows the compute stream,
  // which must follow it in turn.
  void begin_capture();
  Graph end_capture();
  void launch(const Graph& graph);
  void destroy(const Graph& graph);

  // Plain, asynchronous and from a pool of the program's own, which is trimmed and destroyed.
  void use_pool();
  void allocate_and_free();

  CUfunction all_reduce_function() const { return functions_.at(all_reduce_kernel().name); }
  CUfunction send_receive_function();  // loaded at its first use
  CUstream communication() const { return communication_; }
  CUstream compute() const { return compute_; }
  int device() const { return device_; }
  std::uint64_t vary(std::uint64_t duration_ns);  // by up to 3 % either way

 private:
  void follow(cudaStream_t first, cudaEvent_t event, cudaStream_t second);

  const Model& model_;
  int device_, peer_;
  std::size_t batch_bytes_;
  std::uint64_t random_;
  CUmodule module_{};
  std::map<std::string, CUfunction> functions_;
  cudaStream_t compute_{}, communication_{};
  cudaEvent_t ready_{}, done_{};  // gradients are ready, as DDP says it; they are reduced
  double slowness_ = 1;
  void* batch_ = nullptr;             // pinned
  std::unique_ptr<char[]> pageable_;  // null: batches are pinned
  void* memory_ = nullptr;
};

}  // namespace sim
