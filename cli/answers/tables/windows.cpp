#include "cli/answers/tables/windows.h"

namespace cli {

Windows::Windows(const std::vector<TimeWindow>& times) : bounded_(true) {
  for (const TimeWindow& time : times)
    of_process_.push_back({AnalysisWindow{time.from_ns, time.to_ns, time.from_ns, time.to_ns, std::nullopt}});
}

Windows::Windows(const Steps& chosen, bool by_step, const std::vector<TimeWindow>& times)
    : of_process_(chosen.size()), bounded_(true), times_(times) {
  for (std::size_t id = 0; id < chosen.size(); ++id) {
    std::vector<AnalysisWindow>& windows = of_process_[id];
    for (const Step& step : chosen[id]) {
      // A step may begin on the host before the end of the previous one was recorded on another thread.
      const bool is_first = windows.empty();
      const std::int64_t begun = is_first ? times[id].from_ns : std::max(times[id].from_ns, windows.back().to_ns);
      const AnalysisWindow next{std::max(begun, step.from_ns()), std::min(times[id].to_ns, step.to_ns()),
                                is_first ? step.start_ns : std::max(step.start_ns, windows.back().host_to_ns),
                                step.end_ns, step.number};
      const bool is_empty = step.knows_gpu_time() && step.length_ns() == 0 && next.from_ns == next.to_ns;
      if (next.from_ns > next.to_ns || (next.from_ns == next.to_ns && !(is_empty && by_step))) continue;
      if (!by_step && !is_first && windows.back().to_ns == next.from_ns &&
          windows.back().host_to_ns == next.host_from_ns) {
        windows.back().to_ns = next.to_ns;
        windows.back().host_to_ns = next.host_to_ns;
      } else {
        windows.push_back(next);
      }
      if (!by_step) windows.back().step.reset();
    }
  }
}

Windows Windows::host() const {
  Windows host = *this;
  for (auto& windows : host.of_process_) {
    for (AnalysisWindow& window : windows) window.from_ns = window.host_from_ns, window.to_ns = window.host_to_ns;
  }
  return host;
}

std::size_t Windows::search(const std::vector<AnalysisWindow>& windows, std::int64_t start_ns) {
  const auto found = std::upper_bound(windows.begin(), windows.end(), start_ns,
                                      [](std::int64_t ns, const AnalysisWindow& window) { return ns < window.to_ns; });
  return static_cast<std::size_t>(found - windows.begin());
}

std::optional<std::size_t> Windows::launched_in(ProcessId process, std::optional<std::int64_t> launched_ns) const {
  if (!launched_ns) return std::nullopt;
  const auto& windows = of_process_[process];
  const auto found =
      std::upper_bound(windows.begin(), windows.end(), *launched_ns,
                       [](std::int64_t ns, const AnalysisWindow& window) { return ns < window.host_to_ns; });
  return found != windows.end() && found->host_from_ns <= *launched_ns
             ? std::optional(static_cast<std::size_t>(found - windows.begin()))
             : std::nullopt;
}

std::int64_t Windows::inside_ns(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const {
  std::int64_t ns = 0;
  each_part(process, start_ns, end_ns,
            [&](std::size_t, std::int64_t from_ns, std::int64_t to_ns) { ns += to_ns - from_ns; });
  return ns;
}

}  // namespace cli
