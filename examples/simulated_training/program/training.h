// The training loop of one rank.
#pragma once
#include <optional>

#include "gpu.h"
#include "nccl.h"
#include "options.h"

namespace sim {

class BackwardThread;

class Training {
 public:
  // `part`: of the communicators into which the world was split; null: none.
  Training(const Options& options, const Communicator& world, const Communicator* part, Gpu& gpu);
  // All steps; the backward passes run in a thread of their own, as autograd's do.
  void run();

 private:
  void step(int number, BackwardThread& backward_thread);
  void burst(int number);
  void forward();
  void gather_parameters();
  void backward();
  // From step kCaptureStep on instead of the two.
  void replay(BackwardThread& backward_thread);
  void reduce_bucket(int bucket);
  void optimize(int number);
  // What options ask for on top.
  void reduce_metrics();
  void exchange_with_neighbours();
  void launch_all(std::span<const Kernel> kernels, int layer);

  const Options& options_;
  const Model& model_;
  const Communicator& world_;
  const Communicator* part_;
  Gpu& gpu_;
  int step_ = 0;
  std::uint64_t share_ns_;  // of a kernel with weight 1
  std::optional<Graph> graph_;
};

}  // namespace sim
