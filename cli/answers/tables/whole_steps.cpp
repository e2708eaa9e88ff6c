#include "cli/answers/tables/whole_steps.h"

#include <algorithm>
#include <cstdlib>

#include "cli/answers/tables/percentile.h"

namespace cli {

Windows whole_steps(const AnalysisContext& context) {
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

namespace {

constexpr std::size_t kFewestToWarmUp = 4;
constexpr std::int64_t kWarmUpMads = 5, kWarmUpShare = 10;

}  // namespace

std::size_t warm_up_steps(const std::vector<Step>& steps) {
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
