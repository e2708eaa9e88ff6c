// Selects whole training steps, and finds the first steps in which a process warms up.
#pragma once
#include <cstdlib>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/percentile.h"

namespace cli {

// Returns the training steps with GPU work that lie entirely within the chosen time of their process, independent of
// what rows stand for.
inline Windows whole_steps(const AnalysisContext& context) {
  Steps steps = context.steps;
  std::vector<TimeWindow> times;
  for (ProcessId id = 0; id < steps.size(); ++id) {
    const auto& windows = context.windows.of(id);
    const TimeWindow time =
        windows.empty() ? TimeWindow{0, 0} : TimeWindow{windows.front().from_ns, windows.back().to_ns};
    std::erase_if(steps[id], [&](const Step& step) {
      return step.length_ns() <= 0 || step.from_ns() < time.from_ns || step.to_ns() > time.to_ns;
    });
    times.push_back(time);
  }
  return Windows(steps, true, times);
}

// The first steps of a process, in which it compiles, tries algorithms and allocates memory, are not representative.

// Returns how many of the first steps are unusual. A step is unusual if its length differs from the median m by more
// than 5 d and by more than m / 10, where d is the median absolute deviation. The last of them is a long step, because
// a first step that is known from its first launch on is short. Returns 0 for fewer than 4 steps, or if half of all
// steps would be unusual.
inline std::size_t warm_up_steps(const std::vector<Step>& steps) {
  constexpr std::size_t kFewestToWarmUp = 4;
  constexpr std::int64_t kWarmUpMads = 5, kWarmUpShare = 10;
  if (steps.size() < kFewestToWarmUp) return 0;
  std::vector<std::int64_t> lengths;
  for (const Step& step : steps) lengths.push_back(step.length_ns());
  const std::int64_t median_ns = median(lengths);
  for (std::int64_t& length : lengths) length = std::abs(length - median_ns);
  const std::int64_t limit_ns = std::max(kWarmUpMads * median(lengths), median_ns / kWarmUpShare);
  std::size_t count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int64_t more_ns = steps[i].length_ns() - median_ns;
    if (std::abs(more_ns) <= limit_ns) break;
    if (more_ns > 0) count = i + 1;
  }
  return count * 2 < steps.size() ? count : 0;
}

}  // namespace cli
