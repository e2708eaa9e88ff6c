// The training steps of a trace, as its programs named them (ProfilerStep#N, NVTX ranges such as "Train step N"), or, of a
// program that named none, as its optimizers ran, or else as its kernels come again.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

struct Step {
  std::int64_t number = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // on the host

  bool operator==(const Step&) const = default;
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
  KernelPeriod period;                     // of a process that named no steps
  std::vector<std::int64_t> kernels;       // of each step, where a period was found: launched in it
  bool alike = false;                      // of those: the numbers are those of the other ranks
  std::int64_t repeated = 0, launched = 0;  // where a period was found: kernels in what comes again, and all that were launched in the trace

  bool by_period() const { return !kernels.empty(); }
  // Its numbers are ours.
  bool is_numbered_here() const;
};

inline constexpr const char* kPeriodOfKernels = "period of kernels";
inline constexpr const char* kOptimizerSteps = "Optimizer.step#";

inline bool ProcessSteps::is_numbered_here() const { return by_period() || found_by == kOptimizerSteps; }

}  // namespace cli
