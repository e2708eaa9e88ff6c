// Which events of a trace a walk has to bring. A trace in memory brings all of them; one that lies in a file with an index
// may leave out others, whole chunks at a time, and counts what it left out.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cli/trace/kinds.h"

namespace cli {

struct Wanted {
  using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;  // from, and to where they end; on the axis

  std::vector<bool> processes;  // by ProcessId; empty: all
  // The part of `processes` that this walk gives, by ProcessId; empty: all. Other walks give the rest, so NotRead does not count it. A walk may
  // give more.
  std::vector<bool> now;
  // By ProcessId; empty: all of time. What runs in one at some moment, with the calls that launched it and what those
  // calls launched.
  std::vector<Intervals> times;
  std::optional<KindSet> kinds;
  bool any_order_of_processes = false;  // the order of time counts within each process alone, which takes less

  bool has(std::size_t process) const { return processes.empty() || processes[process]; }
  bool has_now(std::size_t process) const { return now.empty() || now[process]; }
};

// In order, those that overlap or touch as one.
inline void join_intervals(Wanted::Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  Wanted::Intervals joined;
  for (const auto& interval : intervals) {
    if (joined.empty() || interval.first > joined.back().second) joined.push_back(interval);
    joined.back().second = std::max(joined.back().second, interval.second);
  }
  intervals = std::move(joined);
}

// Events that a walk left out, by the first reason for which none of their chunk is wanted, in this order.
struct NotRead {
  std::uint64_t by_process = 0, by_time = 0, by_kind = 0;
};

}  // namespace cli
