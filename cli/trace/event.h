// Events on the common time axis: what readers produce and commands consume. An event has a fixed size and a string id
// as its name. Its payload travels with it (payload.h).
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

using StringId = std::uint32_t;   // index in Catalog::strings; 0 is ""
using ProcessId = std::uint32_t;  // index in Catalog::processes
using TrackId = std::uint32_t;    // index in Catalog::tracks

inline constexpr std::int64_t kUnknownDuration = -1;  // the event started, but its end was not recorded

// kKinds has one entry per kind: name for people and JSON keys, Chrome category.
enum class Kind : std::uint8_t {
  kernel,
  memcpy,
  memset,
  runtime,
  driver,
  nvtx,
  nccl,  // a host call of NCCL; the kernel that it launches is Kind::kernel
  sync,  // cuda_sync
  cuda_event,
  overhead,
  graph,   // a whole CUDA graph launch, recorded instead of its nodes
  memory,  // instants: device memory allocated or released, a pool created, trimmed or destroyed
  notice,  // an incident in the recording itself
  cpu_op,
  user_annotation,
  gpu_annotation,
  python_function,
  instant,             // instant events ("i", "I", "R")
  counter,             // "C"
  flow,                // flow endpoint: phase "s", "t" or "f"; correlation is its id, unique within its category
  garbage_collection,  // a run of Python's garbage collector
  stack,               // instant: the stack of a thread; correlation is that of the call it was sampled at, or 0
  other,               // any other event with a time; see its category
  count_
};

// How a JSON input spelled the event, apart from its facts, so that an export to JSON can repeat it.
struct JsonSpelling {
  bool args_complete = false;  // the foreign arguments already contain correlation and bytes
  bool no_category = false;    // the input has no category
  bool encloses = false;       // flow endpoint with "bp": "e": it binds to the enclosing slice
  bool second_ids = false;     // pid and tid are spelled as in the second line of Track::kineto_ids
  char scope = 0;              // of an instant: 't', 'p' or 'g'; 0 if absent
};

struct Event {
  std::int64_t start_ns = 0;      // wall clock of the common axis, ns since 1970
  std::int64_t duration_ns = 0;   // >= 0, or kUnknownDuration; 0 unless phase is 'X'
  std::uint64_t correlation = 0;  // joins a launch and its work within a process; 0 if none. Flows: the flow id
  std::uint64_t bytes = 0;        // size of a copy, a memset or one message of a collective; valid if has_bytes
  TrackId track = 0;
  StringId name = 0;
  StringId category = 0;  // as the input spelled it; 0 for the default category of the kind
  Kind kind = Kind::other;
  char phase = 'X';  // "ph" of the Trace Event Format
  bool has_bytes = false;
  bool open_start = false;  // began before the first record in the ring: start_ns is not its real start
  JsonSpelling json;        // default for recordings
};
static_assert(sizeof(Event) == 56);

// Returns true for the GPU work from which busy and idle times are computed. Synchronizations do not count as work.
constexpr bool is_gpu_work(Kind kind) {
  return kind == Kind::kernel || kind == Kind::memcpy || kind == Kind::memset || kind == Kind::graph;
}
// Returns when this GPU work ended. 0 if the event is not GPU work or its end is unknown.
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
  std::string_view name;      // JSON key in `info --json`
  std::string_view category;  // Chrome JSON category of recordings (Kineto's word if it has one)
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

// Selects the events that a walk has to deliver. A trace in memory delivers all events. A trace in an indexed file may
// skip whole chunks of other events; it counts the events that it skips.
struct Wanted {
  using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;  // [from, to) on the common axis

  std::vector<bool> processes;  // by ProcessId; empty for all
  // The subset of `processes` that this walk delivers, by ProcessId; empty for all. Other walks deliver the rest, so
  // NotRead does not count it. A walk may deliver more.
  std::vector<bool> now;
  // Time ranges by ProcessId; empty for all times. Selects the events that overlap a range, the calls that launched
  // them and the work that those calls launched.
  std::vector<Intervals> times;
  std::optional<KindSet> kinds;
  bool any_order_of_processes = false;  // events are in time order only within each process, which is cheaper

  bool has(std::size_t process) const { return processes.empty() || processes[process]; }
  bool has_now(std::size_t process) const { return now.empty() || now[process]; }
};

// Sorts the intervals and joins those that overlap or touch.
inline void join_intervals(Wanted::Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  Wanted::Intervals joined;
  for (const auto& interval : intervals) {
    if (joined.empty() || interval.first > joined.back().second) joined.push_back(interval);
    joined.back().second = std::max(joined.back().second, interval.second);
  }
  intervals = std::move(joined);
}

// Number of events that a walk skipped, by the first reason, in this order, that excludes their chunk.
struct NotRead {
  std::uint64_t by_process = 0, by_time = 0, by_kind = 0;
};

}  // namespace cli
