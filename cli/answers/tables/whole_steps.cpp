#include "cli/answers/tables/whole_steps.h"

namespace cli {

Windows whole_steps(const AnalysisContext& context) {
  Steps steps = context.steps;
  std::vector<TimeWindow> times;
  for (ProcessId id = 0; id < steps.size(); ++id) {
    const auto& windows = context.windows.of(id);
    const TimeWindow time = windows.empty() ? TimeWindow{0, 0} : TimeWindow{windows.front().from_ns, windows.back().to_ns};
    std::erase_if(steps[id], [&](const Step& step) { return step.length_ns() <= 0 || step.from_ns() < time.from_ns || step.to_ns() > time.to_ns; });
    times.push_back(time);
  }
  return Windows(steps, true, times);
}

}  // namespace cli
