// The training steps of a trace. They come from names that the program uses (ProfilerStep#N, NVTX ranges such as "Train
// step N"), else from the runs of its optimizers, else from the period with which its kernels repeat.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

// A training step of a process. Its GPU work is the work launched in its host range. On the GPU it lasts from the end
// of all work launched before that range to the end of its own last work, because the host runs ahead of the GPU. All
// devices of a process share this time.
struct Step {
  std::int64_t number = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // host range [start_ns, end_ns)
  // On the GPU; both 0 if unknown; equal if the step launched no GPU work
  std::int64_t gpu_start_ns = 0, gpu_end_ns = 0;
  std::int64_t kernels = 0;  // kernels launched in the step

  bool knows_gpu_time() const { return gpu_start_ns != 0 || gpu_end_ns != 0; }
  // The time range of the step: on the GPU if known, else on the host.
  std::int64_t from_ns() const { return knows_gpu_time() ? gpu_start_ns : start_ns; }
  std::int64_t to_ns() const { return knows_gpu_time() ? gpu_end_ns : end_ns; }
  std::int64_t length_ns() const { return to_ns() - from_ns(); }
  bool operator==(const Step&) const = default;
};

// Amount of GPU work of a process, by whether the call that launched it is in the trace. Work without a launch belongs
// to no step, unless the trace has no calls of the process at all; then the start of the work counts as its launch.
struct LaunchShare {
  std::int64_t count = 0, sum_ns = 0;
  std::int64_t unlaunched_count = 0, unlaunched_ns = 0;

  bool operator==(const LaunchShare&) const = default;
};

// By ProcessId, sorted by start. Empty for a process without steps.
using Steps = std::vector<std::vector<Step>>;

// The period with which the kernels of a process repeat (select/step_period.h).
struct KernelPeriod {
  std::uint64_t kernels = 0;                // kernels per period; 0 if there are too few kernels to look for a period
  std::uint64_t matched = 0, compared = 0;  // kernels equal to the kernel one period before, and all compared ones
  bool by_names = false;                    // kernels are compared by name only: their grids differ

  // If false, this is the best period that was tried.
  bool is_accepted() const { return kernels != 0 && matched * 5 >= compared * 4; }
  bool operator==(const KernelPeriod&) const = default;
};

// The steps that were found in one process.
struct ProcessSteps {
  // The family of names (select/step_name.h), kOptimizerSteps or kPeriodOfKernels; "" if it has no steps
  std::string found_by;
  std::int64_t first_ns = 0, last_ns = 0;  // of all its events except flow endpoints; 0, 0 if it has none
  std::vector<Step> steps;                 // sorted by start
  LaunchShare launches;
  KernelPeriod period;  // only if the program names no steps
  bool alike = false;   // only with `period`: step numbers agree with those of the other ranks
  // If a period was found: kernels in repeating parts, and all kernels launched in the trace
  std::int64_t repeated = 0, launched = 0;
  // Number of repeats of the period, and the range that contains them (or kWholeTrace), if the repeats are parts of one
  // iteration, such as layers, and therefore are not steps.
  std::int64_t repeats = 0;
  std::string repeats_within;

  bool by_period() const;
  // Returns true if tracetool assigned the step numbers.
  bool is_numbered_here() const;
};

inline constexpr const char* kWholeTrace = "the whole trace";
inline constexpr const char* kPeriodOfKernels = "period of kernels";
inline constexpr const char* kOptimizerSteps = "Optimizer.step#";

inline bool ProcessSteps::by_period() const { return found_by == kPeriodOfKernels; }
inline bool ProcessSteps::is_numbered_here() const { return by_period() || found_by == kOptimizerSteps; }

}  // namespace cli
