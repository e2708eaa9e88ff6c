// The times that a person asked for: of each process the whole trace, a part of it (--time), or training steps. What runs in
// one is counted as far as it runs in it, whenever it was launched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/steps.h"
#include "cli/select/selector.h"

namespace cli {

struct AnalysisWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();  // from 1970; `to_ns` does not belong to it
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> step;  // its number, where windows are steps
};

class Windows {
 public:
  // One that holds everything, for each of so many processes.
  explicit Windows(std::size_t processes) : of_process_(processes, {AnalysisWindow{}}), bounded_(false) {}
  // One for each of the chosen steps (select/selector.h), cut to the process's time; of `by_step` false, the same times,
  // without numbers and where they touch as one.
  Windows(const Steps& chosen, bool by_step, const std::vector<TimeWindow>& times);
  // This one for each process.
  explicit Windows(const std::vector<TimeWindow>& times);

  // Ascending and apart.
  const std::vector<AnalysisWindow>& of(ProcessId process) const { return of_process_[process]; }
  // A window has a length that was asked for: idle time counts from its begin to its end, and not from the first work on.
  bool are_bounded() const { return bounded_; }
  // The index of the first window of the process that ends after start_ns; the number of windows: there is none.
  std::size_t first_after(ProcessId process, std::int64_t start_ns) const;
  bool hold(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const;
  // How much of it lies in windows.
  std::int64_t inside_ns(ProcessId process, std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  static std::size_t search(const std::vector<AnalysisWindow>& windows, std::int64_t start_ns);

  std::vector<std::vector<AnalysisWindow>> of_process_;
  bool bounded_;
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
