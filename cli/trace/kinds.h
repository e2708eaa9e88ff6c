// The table of kinds: one entry each.
#pragma once
#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace/event.h"

namespace cli {

using KindSet = std::bitset<static_cast<std::size_t>(Kind::count_)>;

constexpr KindSet kinds_of(std::initializer_list<Kind> kinds) {
  unsigned long long bits = 0;
  for (const Kind kind : kinds) bits |= 1ull << static_cast<unsigned>(kind);
  return bits;
}

struct KindInfo {
  Kind kind;
  std::string_view name;      // the JSON key in `info --json`
  std::string_view category;  // what our own recordings get in Chrome JSON (Kineto's words where it has one)
};

inline constexpr std::array<KindInfo, static_cast<std::size_t>(Kind::count_)> kKinds{{
    {Kind::kernel, "kernel", "kernel"},
    {Kind::memcpy, "memcpy", "gpu_memcpy"},
    {Kind::memset, "memset", "gpu_memset"},
    {Kind::runtime, "runtime", "cuda_runtime"},
    {Kind::driver, "driver", "cuda_driver"},
    {Kind::nvtx, "nvtx", "nvtx"},
    {Kind::nccl, "nccl", "nccl"},
    {Kind::sync, "sync", "cuda_sync"},
    {Kind::cuda_event, "cuda_event", "cuda_event"},
    {Kind::overhead, "overhead", "overhead"},
    {Kind::graph, "graph", "cuda_graph"},
    {Kind::memory, "memory", "cuda_memory"},
    {Kind::notice, "notice", "notice"},
    {Kind::cpu_op, "cpu_op", "cpu_op"},
    {Kind::user_annotation, "user_annotation", "user_annotation"},
    {Kind::gpu_annotation, "gpu_annotation", "gpu_user_annotation"},
    {Kind::python_function, "python_function", "python_function"},
    {Kind::instant, "instant", "cpu_instant_event"},
    {Kind::counter, "counter", "counter"},
    {Kind::flow, "flow", "flow"},
    {Kind::garbage_collection, "garbage_collection", "garbage_collection"},
    {Kind::stack, "stack", "stack"},
    {Kind::other, "other", "other"},
}};
static_assert(std::all_of(kKinds.begin(), kKinds.end(),
                          [](const KindInfo& info) { return &info - kKinds.data() == static_cast<int>(info.kind); }),
              "rows are found by their kind: they stand in its order");

constexpr const KindInfo& info(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

// Which events of a trace a walk has to bring. A trace in memory brings all of them; one that lies in a file with an index
// may leave out others, whole chunks at a time, and counts what it left out.
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
