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
  std::optional<std::int64_t> step = {};  // step number, if windows are steps
};

class Windows {
 public:
  // Creates one unbounded window per process.
  explicit Windows(std::size_t processes) : of_process_(processes, {AnalysisWindow{}}) {}
  // Creates one window per chosen step (select/selector.h), cut to the process's time. If `by_step` is false, the
  // windows cover the same times without numbers, and adjacent ones are joined. Steps without GPU work are empty
  // windows.
  Windows(const Steps& chosen, bool by_step, const std::vector<TimeWindow>& times)
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
  // Creates one window per process.
  explicit Windows(const std::vector<TimeWindow>& times) : bounded_(true) {
    for (const TimeWindow& time : times) of_process_.push_back({AnalysisWindow{time.from_ns, time.to_ns}});
  }

  // Sorted and disjoint.
  const std::vector<AnalysisWindow>& of(ProcessId process) const { return of_process_[process]; }
  // Returns true if the user chose the length of the windows. Idle time then counts from the begin to the end of the
  // window, instead of from the first work on.
  bool are_bounded() const { return bounded_; }
  // Returns true if windows are steps or times of steps. Work then counts in the window that launched it.
  bool are_steps() const { return !times_.empty(); }
  // Returns the same windows in host time.
  Windows host() const {
    Windows host = *this;
    for (auto& windows : host.of_process_) {
      for (AnalysisWindow& window : windows) window.from_ns = window.host_from_ns, window.to_ns = window.host_to_ns;
    }
    return host;
  }

  // Returns the index of the first window of the process that ends after start_ns; the number of windows if there is
  // none.
  // Called by every analysis for each piece of work. Most processes have one window, which needs no search.
  std::size_t first_after(ProcessId process, std::int64_t start_ns) const {
    const auto& windows = of_process_[process];
    if (windows.size() == 1) return start_ns < windows.front().to_ns ? 0 : 1;
    const auto found = std::ranges::upper_bound(windows, start_ns, {}, &AnalysisWindow::to_ns);
    return static_cast<std::size_t>(found - windows.begin());
  }
  bool hold(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const {
    if (!bounded_) return true;
    const auto& windows = of_process_[process];
    const std::size_t at = first_after(process, start_ns);
    return at != windows.size() && (start_ns >= windows[at].from_ns || end_ns > windows[at].from_ns);
  }
  // Returns the index of the window that contains `ns`.
  std::optional<std::size_t> at(ProcessId process, std::int64_t ns) const {
    const std::size_t found = first_after(process, ns);
    const auto& windows = of_process_[process];
    return found < windows.size() && windows[found].from_ns <= ns ? std::optional(found) : std::nullopt;
  }
  // Returns how much of [start_ns, end_ns) lies in windows.
  std::int64_t inside_ns(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const {
    std::int64_t ns = 0;
    each_part(process, start_ns, end_ns,
              [&](std::size_t, std::int64_t from_ns, std::int64_t to_ns) { ns += to_ns - from_ns; });
    return ns;
  }
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
  std::optional<std::size_t> launched_in(ProcessId process, std::optional<std::int64_t> launched_ns) const {
    if (!launched_ns) return std::nullopt;
    const auto& windows = of_process_[process];
    const auto found = std::ranges::upper_bound(windows, *launched_ns, {}, &AnalysisWindow::host_to_ns);
    return found != windows.end() && found->host_from_ns <= *launched_ns
               ? std::optional(static_cast<std::size_t>(found - windows.begin()))
               : std::nullopt;
  }
  // The time chosen with --time, if windows are steps.
  const TimeWindow& time(ProcessId process) const { return times_[process]; }

 private:
  std::vector<std::vector<AnalysisWindow>> of_process_;
  bool bounded_ = false;
  std::vector<TimeWindow> times_;  // by ProcessId; empty if windows are not steps
};

}  // namespace cli
