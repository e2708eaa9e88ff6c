#include "cli/analyze/windows.h"

#include <algorithm>

namespace cli {

Windows::Windows(const std::vector<TimeWindow>& times) : bounded_(true) {
  for (const TimeWindow& time : times) of_process_.push_back({AnalysisWindow{time.from_ns, time.to_ns, std::nullopt}});
}

Windows::Windows(const Steps& chosen, bool by_step, const std::vector<TimeWindow>& times)
    : of_process_(chosen.size()), bounded_(true) {
  for (std::size_t id = 0; id < chosen.size(); ++id) {
    std::vector<AnalysisWindow>& windows = of_process_[id];
    for (const Step& step : chosen[id]) {
      // A step may begin before the last one's end was seen on another thread.
      const std::int64_t begun = windows.empty() ? times[id].from_ns : std::max(times[id].from_ns, windows.back().to_ns);
      const AnalysisWindow next{std::max(begun, step.start_ns), std::min(times[id].to_ns, step.end_ns), step.number};
      if (next.from_ns >= next.to_ns) continue;
      if (!by_step && !windows.empty() && windows.back().to_ns == next.from_ns) {
        windows.back().to_ns = next.to_ns;
      } else {
        windows.push_back(next);
      }
      if (!by_step) windows.back().step.reset();
    }
  }
}

std::size_t Windows::search(const std::vector<AnalysisWindow>& windows, std::int64_t start_ns) {
  const auto found = std::upper_bound(windows.begin(), windows.end(), start_ns,
                                      [](std::int64_t ns, const AnalysisWindow& window) { return ns < window.to_ns; });
  return static_cast<std::size_t>(found - windows.begin());
}

std::int64_t Windows::inside_ns(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const {
  const auto& windows = of_process_[process];
  std::int64_t ns = 0;
  for (std::size_t i = first_after(process, start_ns); i < windows.size() && windows[i].from_ns < end_ns; ++i) {
    ns += std::min(end_ns, windows[i].to_ns) - std::max(start_ns, windows[i].from_ns);
  }
  return ns;
}

}  // namespace cli
