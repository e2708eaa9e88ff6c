#include "steady_load.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../standin/work.h"

namespace sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kGraphKernels = 20;
constexpr std::uint64_t kBusyPermille = 700;  // how much of its time a stream works
constexpr std::uint64_t kLeastNs = 1'000;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "simulated_training: %s failed with %d\n", what, static_cast<int>(result));
  std::exit(2);
}

// One thread of the load, on its own streams.
class Lane {
 public:
  Lane(const Options& options, const Gpu& gpu) : options_(options), gpu_(gpu) {
    gpu_.use_here();
    streams_.resize(static_cast<std::size_t>(options_.streams));
    for (cudaStream_t& stream : streams_)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    if (options_.graphs) capture();
  }

  void run(Clock::time_point begin, Clock::time_point end) {
    const std::chrono::nanoseconds interval(std::int64_t{1'000'000'000} * options_.threads * batch() / options_.rate);
    for (std::int64_t number = 0;; ++number) {
      const Clock::time_point due = begin + number * interval;
      if (due >= end) return;
      std::this_thread::sleep_until(due);
      launch(number);
    }
  }

 private:
  std::int64_t batch() const { return options_.graphs ? kGraphKernels : 1; }

  std::uint64_t kernel_ns() const {
    const auto lanes = static_cast<std::uint64_t>(options_.threads * options_.streams);
    return std::max(kBusyPermille * 1'000'000 * lanes / static_cast<std::uint64_t>(options_.rate), kLeastNs);
  }

  void launch(std::int64_t number) {
    const cudaStream_t stream = streams_[static_cast<std::size_t>(number) % streams_.size()];
    const auto kernels = model_named(options_.model).forward;
    const Kernel& kernel = kernels[static_cast<std::size_t>(number) % kernels.size()];
    if (number == options_.hang) {
      const auto us = static_cast<std::uint64_t>(options_.hang_us);
      gpu_.launch(stream, kernel, 1, us != 0 ? us * 1'000 : kNeverEnds);
    } else if (options_.graphs) {
      check(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch");
    } else {
      gpu_.launch(stream, kernel, 1, kernel_ns());
    }
  }

  void capture() {
    cudaGraph_t captured{};
    check(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    for (std::int64_t i = 0; i < kGraphKernels; ++i) {
      const auto kernels = model_named(options_.model).forward;
      gpu_.launch(streams_[0], kernels[static_cast<std::size_t>(i) % kernels.size()], 1, kernel_ns());
    }
    check(cudaStreamEndCapture(streams_[0], &captured), "cudaStreamEndCapture");
    check(cudaGraphInstantiateWithFlags(&graph_, captured, 0), "cudaGraphInstantiateWithFlags");
  }

  const Options& options_;
  const Gpu& gpu_;
  std::vector<cudaStream_t> streams_;
  cudaGraphExec_t graph_{};
};

}  // namespace

void run_steady_load(const Options& options, Gpu& gpu) {
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + std::chrono::microseconds(options.step_us * options.steps);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([&] { Lane(options, gpu).run(begin, end); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace sim
