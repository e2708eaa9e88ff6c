// The times that a person asked for: of each process the whole trace, a part of it (--time), or training steps.
//
// A step has two times (cli/trace/steps.h): on the GPU from the end of the work before it to the end of its own, and on the host. What
// a device did at a time (busy, idle) is told of the GPU's time, whatever ran in it. A piece of work counts in the step in which it
// was launched, whole. Calls and ranges count in the host's time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"
#include "cli/timeline/select/selector.h"

namespace cli {

struct AnalysisWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();  // from 1970; `to_ns` does not belong to it
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t host_from_ns = from_ns, host_to_ns = to_ns;
  std::optional<std::int64_t> step;  // its number, where windows are steps
};

class Windows {
 public:
  // One that holds everything, for each of so many processes.
  explicit Windows(std::size_t processes) : of_process_(processes, {AnalysisWindow{}}) {}
  // One for each of the chosen steps (select/selector.h), cut to the process's time; of `by_step` false, the same times,
  // without numbers and where they touch as one. Steps without GPU work are empty windows.
  Windows(const Steps& chosen, bool by_step, const std::vector<TimeWindow>& times);
  // This one for each process.
  explicit Windows(const std::vector<TimeWindow>& times);

  // Ascending and apart.
  const std::vector<AnalysisWindow>& of(ProcessId process) const { return of_process_[process]; }
  // A window has a length that was asked for: idle time counts from its begin to its end, and not from the first work on.
  bool are_bounded() const { return bounded_; }
  // Windows are steps, or times of steps: work counts in the one in which it was launched.
  bool are_steps() const { return !times_.empty(); }
  // The same windows by the time of the host.
  Windows host() const;

  // The index of the first window of the process that ends after start_ns; the number of windows: there is none.
  std::size_t first_after(ProcessId process, std::int64_t start_ns) const;
  bool hold(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const;
  // The index of the window in which that moment lies.
  std::optional<std::size_t> at(ProcessId process, std::int64_t ns) const {
    const std::size_t found = first_after(process, ns);
    const auto& windows = of_process_[process];
    return found < windows.size() && windows[found].from_ns <= ns ? std::optional(found) : std::nullopt;
  }
  // How much of it lies in windows.
  std::int64_t inside_ns(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const;
  // Calls each(window, start_ns, end_ns) for the part of that time that lies in each window.
  template <typename Each>
  void each_part(ProcessId process, std::int64_t start_ns, std::int64_t end_ns, Each&& each) const {
    const auto& windows = of_process_[process];
    for (std::size_t i = first_after(process, start_ns); i < windows.size(); ++i) {
      const std::int64_t from_ns = std::max(start_ns, windows[i].from_ns), to_ns = std::min(end_ns, windows[i].to_ns);
      if (from_ns > to_ns) break;
      each(i, from_ns, to_ns);
    }
  }
  // The window in whose host time that moment lies; launched_ns is empty for work whose launch is unknown.
  std::optional<std::size_t> launched_in(ProcessId process, std::optional<std::int64_t> launched_ns) const;
  // --time, where windows are steps.
  const TimeWindow& time(ProcessId process) const { return times_[process]; }

 private:
  static std::size_t search(const std::vector<AnalysisWindow>& windows, std::int64_t start_ns);

  std::vector<std::vector<AnalysisWindow>> of_process_;
  bool bounded_ = false;
  std::vector<TimeWindow> times_;  // by ProcessId; empty: windows are no steps
};

// Every analysis asks this of each piece of work. Most processes have one window, which takes no search.
inline std::size_t Windows::first_after(ProcessId process, std::int64_t start_ns) const {
  const auto& windows = of_process_[process];
  if (windows.size() == 1) return start_ns < windows.front().to_ns ? 0 : 1;
  return search(windows, start_ns);
}

inline bool Windows::hold(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const {
  if (!bounded_) return true;
  const auto& windows = of_process_[process];
  const std::size_t at = first_after(process, start_ns);
  return at != windows.size() && (start_ns >= windows[at].from_ns || end_ns > windows[at].from_ns);
}

}  // namespace cli
