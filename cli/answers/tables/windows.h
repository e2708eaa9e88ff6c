// The chosen times of each process: the whole trace, a part of it (--time), or training steps.
//
// A step has two times (cli/trace/steps.h): a GPU time, from the end of the previous work to the end of its own, and a
// host time. Device states (busy, idle) use the GPU time, whatever ran in it. A piece of work counts as a whole in the
// step that launched it. Calls and ranges use the host time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cli/timeline/select/selector.h"
#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"

namespace cli {

struct AnalysisWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();  // [from_ns, to_ns), ns since 1970
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t host_from_ns = from_ns, host_to_ns = to_ns;
  std::optional<std::int64_t> step;  // step number, if windows are steps
};

class Windows {
 public:
  // Creates one unbounded window per process.
  explicit Windows(std::size_t processes) : of_process_(processes, {AnalysisWindow{}}) {}
  // Creates one window per chosen step (select/selector.h), cut to the process's time. If `by_step` is false, the
  // windows cover the same times without numbers, and adjacent ones are joined. Steps without GPU work are empty
  // windows.
  Windows(const Steps& chosen, bool by_step, const std::vector<TimeWindow>& times);
  // Creates one window per process.
  explicit Windows(const std::vector<TimeWindow>& times);

  // Sorted and disjoint.
  const std::vector<AnalysisWindow>& of(ProcessId process) const { return of_process_[process]; }
  // Returns true if the user chose the length of the windows. Idle time then counts from the begin to the end of the
  // window, instead of from the first work on.
  bool are_bounded() const { return bounded_; }
  // Returns true if windows are steps or times of steps. Work then counts in the window that launched it.
  bool are_steps() const { return !times_.empty(); }
  // Returns the same windows in host time.
  Windows host() const;

  // Returns the index of the first window of the process that ends after start_ns; the number of windows if there is
  // none.
  std::size_t first_after(ProcessId process, std::int64_t start_ns) const;
  bool hold(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const;
  // Returns the index of the window that contains `ns`.
  std::optional<std::size_t> at(ProcessId process, std::int64_t ns) const {
    const std::size_t found = first_after(process, ns);
    const auto& windows = of_process_[process];
    return found < windows.size() && windows[found].from_ns <= ns ? std::optional(found) : std::nullopt;
  }
  // Returns how much of [start_ns, end_ns) lies in windows.
  std::int64_t inside_ns(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const;
  // Calls each(window, start_ns, end_ns) for the part of the time in each window.
  template <typename Each>
  void each_part(ProcessId process, std::int64_t start_ns, std::int64_t end_ns, Each&& each) const {
    const auto& windows = of_process_[process];
    for (std::size_t i = first_after(process, start_ns); i < windows.size(); ++i) {
      const std::int64_t from_ns = std::max(start_ns, windows[i].from_ns), to_ns = std::min(end_ns, windows[i].to_ns);
      if (from_ns > to_ns) break;
      each(i, from_ns, to_ns);
    }
  }
  // Returns the window whose host time contains launched_ns, which is empty for work with an unknown launch.
  std::optional<std::size_t> launched_in(ProcessId process, std::optional<std::int64_t> launched_ns) const;
  // The time chosen with --time, if windows are steps.
  const TimeWindow& time(ProcessId process) const { return times_[process]; }

 private:
  static std::size_t search(const std::vector<AnalysisWindow>& windows, std::int64_t start_ns);

  std::vector<std::vector<AnalysisWindow>> of_process_;
  bool bounded_ = false;
  std::vector<TimeWindow> times_;  // by ProcessId; empty if windows are not steps
};

// Called by every analysis for each piece of work. Most processes have one window, which needs no search.
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
