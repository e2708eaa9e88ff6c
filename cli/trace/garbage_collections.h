// The newest runs of Python's garbage collector in a process. They never overlap. The collector holds the GIL, so it
// blocks every thread that runs Python.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "cli/trace/event.h"
#include "cli/trace/event_times.h"

namespace cli {

class GarbageCollections {
 public:
  // Adds an event of Kind::garbage_collection. Events have to arrive in order of their start.
  void add(const Event& event) {
    if (event.duration_ns < 0) return;
    if (runs_.size() == kMostRuns) runs_.pop_front();
    const std::int64_t start_ns = sane_ns(event.start_ns);
    runs_.push_back({start_ns, std::max(start_ns, sane_ns(slice_end(event, kLatest_ns)))});
  }
  // Returns how long the collector ran within [from_ns, to_ns).
  std::int64_t within_ns(std::int64_t from_ns, std::int64_t to_ns) const {
    std::int64_t sum_ns = 0;
    each_within(from_ns, to_ns, [&](std::int64_t start_ns, std::int64_t end_ns) { sum_ns += end_ns - start_ns; });
    return sum_ns;
  }
  // Calls on_part(start, end) for each part of [from_ns, to_ns) in which the collector ran.
  template <typename OnPart>
  void each_within(std::int64_t from_ns, std::int64_t to_ns, OnPart&& on_part) const {
    auto run =
        std::partition_point(runs_.begin(), runs_.end(), [&](const Run& each) { return each.end_ns <= from_ns; });
    for (; run != runs_.end() && run->start_ns < to_ns; ++run)
      on_part(std::max(run->start_ns, from_ns), std::min(run->end_ns, to_ns));
  }

 private:
  static constexpr std::size_t kMostRuns = 1 << 14;
  struct Run {
    std::int64_t start_ns, end_ns;
  };
  std::deque<Run> runs_;
};

}  // namespace cli
