// What every reader yields and every command consumes: events on one time axis, and the catalogue of whom they belong
// to. An event is fixed-size and its name is a string id; what it says besides travels with it (payload.h).
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

namespace cli {

using StringId = std::uint32_t;   // in Catalog::strings; 0 is ""
using ProcessId = std::uint32_t;  // index in Catalog::processes
using TrackId = std::uint32_t;    // index in Catalog::tracks

inline constexpr std::int64_t kUnknownDuration = -1;  // started, end not seen

// One entry each in kKinds: name for people and JSON keys, Chrome category.
enum class Kind : std::uint8_t {
  kernel,
  memcpy,
  memset,
  runtime,
  driver,
  nvtx,
  nccl,  // a host call into NCCL; the kernel that it launches is Kind::kernel
  sync,  // cuda_sync
  cuda_event,
  overhead,
  graph,   // a whole launch of a CUDA graph, recorded instead of its nodes
  memory,  // device memory allocated or released, a pool made, trimmed or removed: instants
  notice,  // what happened to the recording itself
  cpu_op,
  user_annotation,
  gpu_annotation,
  python_function,
  instant,  // instant events ("i", "I", "R")
  counter,  // "C"
  flow,     // one end of a flow: phase "s", "t" or "f", correlation = its id, unique within its category
  garbage_collection,  // a run of Python's
  stack,               // where a thread was at a moment: an instant; correlation is that of the call that it is of, or 0
  other,    // anything else with a time; category says what
  count_
};

// What only events of a JSON file have: what its author wrote beside the facts, so that an export to JSON says it again.
struct JsonSpelling {
  bool args_complete = false;  // the foreign arguments hold correlation and bytes too: not to be repeated
  bool no_category = false;    // none was given
  bool encloses = false;       // end of a flow: "bp": "e", it binds to the slice around it
  bool second_ids = false;     // the place is spelled as in the second line of Track::kineto_ids
  char scope = 0;              // of an instant: 't', 'p', 'g'; 0: none was given
};

struct Event {
  std::int64_t start_ns = 0;      // wall clock of the axis, ns since 1970
  std::int64_t duration_ns = 0;   // >= 0, or kUnknownDuration; 0 for all but phase 'X'
  std::uint64_t correlation = 0;  // joins a launch and its work within a process; 0: none. Flows: the flow id
  std::uint64_t bytes = 0;        // of a copy, a memset or one message of a collective, when has_bytes
  TrackId track = 0;
  StringId name = 0;
  StringId category = 0;  // 0: the kind's own; else the category as the input spelled it
  Kind kind = Kind::other;
  char phase = 'X';  // of the Trace Event Format
  bool has_bytes = false;
  bool open_start = false;  // began before the first kept record: start_ns is not its real start
  JsonSpelling json;        // of recordings: as it is here
};
static_assert(sizeof(Event) == 56);

// GPU work of a device: what busy and idle are computed from. Synchronizations are not work.
constexpr bool is_gpu_work(Kind kind) {
  return kind == Kind::kernel || kind == Kind::memcpy || kind == Kind::memset || kind == Kind::graph;
}
// When this work of the GPU ended; 0: it is no such work, or its end is not known.
constexpr std::int64_t gpu_end_ns(const Event& event) {
  return is_gpu_work(event.kind) && event.duration_ns >= 0 ? event.start_ns + event.duration_ns : 0;
}
constexpr bool is_api_call(Kind kind) { return kind == Kind::runtime || kind == Kind::driver; }

// The table of kinds: one entry each.
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
