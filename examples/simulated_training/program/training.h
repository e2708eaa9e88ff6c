// The training loop of one rank.
#pragma once
#include "gpu.h"
#include "nccl.h"
#include "options.h"

namespace sim {

class Training {
 public:
  Training(const Options& options, const Communicator& communicator, Gpu& gpu);
  // All steps; the backward passes run in a thread of their own, as autograd's do.
  void run();

 private:
  void burst(int number);
  void forward();
  void backward();
  void reduce_bucket(int bucket);
  void optimize(int number);
  void launch_all(std::span<const Kernel> kernels, int layer);

  const Options& options_;
  const Communicator& communicator_;
  Gpu& gpu_;
  std::uint64_t share_ns_;        // of a kernel with weight 1
  std::uint64_t collective_ = 0;  // number of the last one
};

}  // namespace sim
