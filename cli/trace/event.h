// What every reader yields and every command consumes: events on one time axis, and the catalogue of whom they belong
// to. An event is fixed-size and its name is a string id; what it says besides travels with it (payload.h).
#pragma once
#include <cstdint>

namespace cli {

using StringId = std::uint32_t;   // in Catalog::strings; 0 is ""
using ProcessId = std::uint32_t;  // index in Catalog::processes
using TrackId = std::uint32_t;    // index in Catalog::tracks

inline constexpr std::int64_t kUnknownDuration = -1;  // started, end not seen

// One entry each in kKinds (kinds.h): name for people and JSON keys, Chrome category.
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

}  // namespace cli
