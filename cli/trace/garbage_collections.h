// The newest runs of Python's garbage collector in a process, of which no two run at once: the collector holds the GIL, and so it
// holds up every thread that runs Python.
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
  // Events of Kind::garbage_collection, by start.
  void add(const Event& event) {
    if (event.duration_ns < 0) return;
    if (runs_.size() == kMostRuns) runs_.pop_front();
    const std::int64_t start_ns = sane_ns(event.start_ns);
    runs_.push_back({start_ns, std::max(start_ns, sane_ns(slice_end(event, kLatest_ns)))});
  }
  // How much of [from_ns, to_ns) it ran.
  std::int64_t within_ns(std::int64_t from_ns, std::int64_t to_ns) const {
    std::int64_t sum_ns = 0;
    each_within(from_ns, to_ns, [&](std::int64_t start_ns, std::int64_t end_ns) { sum_ns += end_ns - start_ns; });
    return sum_ns;
  }
  // Calls on_part(start, end) with each part of [from_ns, to_ns) in which it ran.
  template <typename OnPart>
  void each_within(std::int64_t from_ns, std::int64_t to_ns, OnPart&& on_part) const {
    auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& each) { return each.end_ns <= from_ns; });
    for (; run != runs_.end() && run->start_ns < to_ns; ++run) on_part(std::max(run->start_ns, from_ns), std::min(run->end_ns, to_ns));
  }

 private:
  static constexpr std::size_t kMostRuns = 1 << 14;
  struct Run {
    std::int64_t start_ns, end_ns;
  };
  std::deque<Run> runs_;
};

}  // namespace cli
