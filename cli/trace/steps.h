// The training steps of a trace, as its programs named them (ProfilerStep#N, NVTX ranges such as "Train step N"), or, of a
// program that named none, as its optimizers ran, or else as its kernels come again.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

// The GPU work of a step is what the process launched in the step's host range. The step lasts from the end of all work that
// was launched before that range to the end of its own last work: the host runs ahead, so its ranges do not say when work ran.
// The devices of one process share this time.
struct Step {
  std::int64_t number = 0;
  std::int64_t start_ns = 0, end_ns = 0;          // on the host; end_ns does not belong to it
  std::int64_t gpu_start_ns = 0, gpu_end_ns = 0;  // on the GPU; both 0: unknown; otherwise equal: no GPU work was launched in it
  std::int64_t kernels = 0;                       // launched in it

  bool knows_gpu_time() const { return gpu_start_ns != 0 || gpu_end_ns != 0; }
  // The time that the step took: on the host if the GPU time is unknown.
  std::int64_t from_ns() const { return knows_gpu_time() ? gpu_start_ns : start_ns; }
  std::int64_t to_ns() const { return knows_gpu_time() ? gpu_end_ns : end_ns; }
  std::int64_t length_ns() const { return to_ns() - from_ns(); }
  bool operator==(const Step&) const = default;
};

// GPU work of a process, by whether the call that launched it is in the trace. Work without a launch belongs to no step, unless
// the trace has no calls of the process at all: then work counts as launched when it begins.
struct LaunchShare {
  std::int64_t count = 0, sum_ns = 0;
  std::int64_t unlaunched_count = 0, unlaunched_ns = 0;

  bool operator==(const LaunchShare&) const = default;
};

// By ProcessId; ascending by start. Empty where a process has none.
using Steps = std::vector<std::vector<Step>>;

// How the kernels of a process come again (select/step_period.h).
struct KernelPeriod {
  std::uint64_t kernels = 0;  // of a period; 0: too few kernels to look for one
  std::uint64_t matched = 0, compared = 0;  // kernels that are the same as those a period before
  bool by_names = false;                    // and have other grids

  // Where not, it is the best of those that were tried.
  bool is_accepted() const { return kernels != 0 && matched * 5 >= compared * 4; }
  bool operator==(const KernelPeriod&) const = default;
};

// What was found of one process.
struct ProcessSteps {
  std::string found_by;                    // the family of names (select/step_name.h), kOptimizerSteps or kPeriodOfKernels; "": it has no steps
  std::int64_t first_ns = 0, last_ns = 0;  // of all its events but the ends of flows; 0, 0: it has none
  std::vector<Step> steps;                 // ascending by start
  LaunchShare launches;
  KernelPeriod period;                     // of a process that named no steps
  bool alike = false;                      // of those: the numbers are those of the other ranks
  std::int64_t repeated = 0, launched = 0;  // where a period was found: kernels in what comes again, and all that were launched in the trace
  // Repeats that are a part of one iteration, as layers are, and so are no steps: how often the period was found as a whole, and the
  // range that holds them, or kWholeTrace.
  std::int64_t repeats = 0;
  std::string repeats_within;

  bool by_period() const;
  // Its numbers are ours.
  bool is_numbered_here() const;
};

inline constexpr const char* kWholeTrace = "the whole trace";
inline constexpr const char* kPeriodOfKernels = "period of kernels";
inline constexpr const char* kOptimizerSteps = "Optimizer.step#";

inline bool ProcessSteps::by_period() const { return found_by == kPeriodOfKernels; }
inline bool ProcessSteps::is_numbered_here() const { return by_period() || found_by == kOptimizerSteps; }

}  // namespace cli
