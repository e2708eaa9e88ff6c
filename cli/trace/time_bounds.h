// Which events of a trace have times that can be right. Some writers give GPU work that was never timed the time 0, or an
// annotation that was never closed a length of months. A reader sets Process::first_ns and last_ns without such events
// (read/time_clusters.h): what lies outside is kept and exported, but no span or sum has it.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/trace/process_clocks.h"
#include "cli/trace/slice.h"

namespace cli {

class TimeBounds {
 public:
  // For events by each process's own clock, if `clocks` put the catalogue's times on the axis.
  explicit TimeBounds(const Catalog& catalog, const ProcessClocks& clocks = {}) {
    constexpr std::int64_t kRoom_ns = 43'200'000'000'000;  // half of what separates events
    for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
      const Process& p = catalog.processes[id];
      auto& [from, to] = bounds_.emplace_back(INT64_MIN, INT64_MAX);
      if (p.first_ns == 0 && p.last_ns == 0) continue;
      const std::int64_t first = clocks.first_at(id, p.first_ns), last = clocks.first_at(id, p.last_ns);
      from = first < INT64_MIN + kRoom_ns ? INT64_MIN : first - kRoom_ns;
      to = last > INT64_MAX - kRoom_ns ? INT64_MAX : last + kRoom_ns;
    }
  }

  bool hold(ProcessId process, const Event& event) const {
    const auto& [from, to] = bounds_[process];
    return event.start_ns >= from && slice_end(event, event.start_ns) <= to;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> bounds_;
};

}  // namespace cli
