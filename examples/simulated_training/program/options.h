// The command line of the simulated training.
#pragma once
#include <cstdint>
#include <string>

namespace sim {

struct Options {
  int ranks = 8;
  int steps = 20;
  std::string dir = "traces";
  int straggler = -1;  // rank; -1: none
  std::int64_t straggler_us = 2'000;
  int slow_gpu = -1;  // rank whose kernels take slow_gpu_factor times as long; -1: none
  double slow_gpu_factor = 1.5;
  double slow_link = 1;              // transfers of collectives take so many times as long
  int pageable = -1;                 // rank that copies its batches from pageable memory; -1: none
  int item_sync = -1;                // rank that reads a number back after each layer of the forward pass; -1: none
  int more_work = -1;                // rank whose forward pass has half as many layers more; -1: none
  std::int64_t clock_offset_us = 0;  // host h is ahead by h times this
  double drift_ppm = 0;              // and runs faster by h times this
  std::int64_t set_clock_us =
      0;          // in the middle of the run somebody sets the wall clock of the last host ahead by this
  int hosts = 0;  // 0: 1, or 2 when an offset or a drift is asked for
  std::uint64_t seed = 1;
  std::string truth;  // empty: none
  std::int64_t step_us = 10'000;
  int batch_mib = 2;
  int log_every = 1;                  // steps, after each of which the host reads the loss back, and waits for it
  std::string model = "transformer";  // or cnn
  int layers = 6;
  int buckets = 4;
  bool tiny_kernels = false;     // kernels take a hundredth of the time, so that the GPU waits for their launches
  std::int64_t burst = 0;        // kernels per step, as fast as they can be launched; 0: a normal step
  std::int64_t ahead_us = 0;     // work begins so long after its launch, at least
  std::int64_t rate = 0;         // instead of steps: so many kernels in a second, and no wait for the device; 0: steps
  int threads = 1, streams = 1;  // that launch them; of each thread
  bool graphs = false;           // from step 2 on, forward and backward are one CUDA graph
  bool groups = false;           // ncclGroupStart ... ncclGroupEnd
  bool copy_engine = false;      // all-gathers without kernels
  bool p2p = false;              // send and receive between neighbours
  int comms = 0;                 // communicators into which the world is split; 0: none
  bool nvtx = false;             // everything that NVTX has
  bool memory = false;           // allocations, asynchronous ones, pools
  std::int64_t hang_us = 0;      // the kernel of `hang` takes so long; 0: it never ends
  int stuck = -1;                // rank whose host stops in the middle step, so that the others wait for it; -1: none
  int left_out = -1;             // rank that leaves out one all-reduce, in the middle step; -1: none
  int hang = -1;         // in this step a kernel begins that never ends, and the ranks leave without waiting; -1: none
  std::string profiler;  // "A-B": from step A to B another tool uses CUPTI, as torch.profiler does; empty: none
  std::string agent;     // empty: the one of this build
  bool no_agent = false;
  std::string ring_bytes;  // for TRACETOOL_BUFFER; empty: the agent's default
};

// Exits with 0 after --help and with 1 after a mistake.
Options parse_options(int argc, char** argv);

}  // namespace sim
