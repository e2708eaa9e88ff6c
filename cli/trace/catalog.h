// Whom events belong to: processes (one per rank), their tracks, and the strings. Small next to the events, so it is
// held in memory whole; it is what a merged file keeps at its end.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/payload.h"
#include "cli/trace/recording.h"
#include "cli/trace/shapes.h"
#include "cli/trace/strings.h"

namespace cli {

using KindCounts = std::array<std::uint64_t, static_cast<std::size_t>(Kind::count_)>;

enum class SourceFormat : std::uint8_t { ring, kineto };

// A place of a file where something else stands than was expected.
struct Damage {
  std::uint64_t byte = 0;  // of the text, uncompressed
  std::string what;        // "expected ','; an event is left out, bytes 12 to 99"

  bool operator==(const Damage&) const = default;
};

// GPU work that is recorded to end far beyond the begin of later work of its stream (cli/trace/event_times.h).
struct Overrun {
  std::uint64_t correlation = 0;
  std::int64_t duration_ns = 0;  // as the file says it
  std::int64_t cut_ns = 0;       // until the later work began

  bool operator==(const Overrun&) const = default;
};

// One traced process: a ring file, or one Kineto file.
struct Process {
  std::string source;  // path as given
  SourceFormat format = SourceFormat::ring;
  std::int64_t rank = -1;  // -1: unknown
  std::int64_t local_rank = -1;
  std::int64_t world_size = -1;
  std::int64_t pid = -1;
  RankSource rank_source = RankSource::unknown;
  std::string host;
  std::string boot_id;  // the clock domain; "" when unknown
  std::string run_id;
  std::string program;
  std::string device_name;
  RecordingState state = RecordingState::unknown;
  KindCounts counts{};                     // events, as read
  KindCounts overwritten{};                // recycled by the ring
  KindCounts lost{};                       // never recorded, and counted
  std::uint64_t lost_unknown_kind = 0;     // CUPTI's own drops; of a Kineto file: events that could not be read
  std::int64_t first_ns = 0, last_ns = 0;  // of all events, on the axis; 0, 0 when there are none
  std::int64_t clock = -1;                 // its ClockFit, of those of the trace; -1: none, its times are on the axis
  std::int64_t first_unclamped_ns = 0;     // of a Kineto file: of events not at its relative time 0; 0: there are none
  bool explicit_flows = false;             // launch flows are events of Kind::flow; else they follow from correlation
  std::string cut;                         // of a file that ends too early: where, and why; ""
  std::optional<Damage> damage;            // the first one: of an event, where one was lost
  std::uint64_t text_bytes = 0;            // of a damaged Kineto file: what there is of its text, uncompressed,
  std::uint64_t unread_bytes = 0;          // and how much of that could not be read
  std::vector<std::string> notes;          // what a user should know: "12 blocks changed while they were read", ...
  Recorder recorder;
  std::vector<Device> devices;
  std::vector<Communicator> communicators;
  std::vector<Notice> notices;
  std::vector<Overrun> overruns;  // of a Kineto file, by correlation and duration
  std::string phase;            // of several files of one rank: what this one is of ("model_init"); else ""
  std::string kineto_header;    // of a Kineto file: its top-level members but the events and their base, as they stood,
                                // without braces; ""
  std::uint32_t ranks_drawn = 0;  // ...: processes that it names as the Chrome form of export names those of ranks
  std::string kineto_metadata;  // ...: its metadata events (M), minified, each on a line; ""
  std::optional<std::int64_t> kineto_base_ns;  // ...: its baseTimeNanoseconds, which every ts was relative to
};

// Where a process records still, or was killed: how long before its last heartbeat the newest work of its GPU that is in
// the file ended. Empty where that is not known.
inline std::optional<std::int64_t> newest_gpu_age_ns(const Process& process) {
  const Recorder& r = process.recorder;
  if (r.newest_gpu_end_ns == 0 || (process.state != RecordingState::live && process.state != RecordingState::recovered)) return std::nullopt;
  return r.heartbeat_ns > r.newest_gpu_end_ns ? r.heartbeat_ns - r.newest_gpu_end_ns : 0;
}

enum class TrackKind : std::uint8_t { thread, stream, other };

struct Track {
  ProcessId process = 0;
  TrackKind kind = TrackKind::thread;
  std::int64_t group = -1;  // stream: CUDA device; thread: pid
  std::int64_t id = 0;      // stream: CUDA stream id; thread: tid
  std::string name;         // "" = none was given
  std::string group_name;   // other: what stands here ("GPU 0 memory"; the process id of Kineto's "Spans"); else ""
  std::optional<std::int64_t> priority;  // of a stream: lower numbers run first
  std::string kineto_ids;  // of a Kineto file: its "pid" and "tid" members as they stood, a second spelling ("7", 7) in
                           // a second line; else ""
  std::uint32_t launcher = 0;  // of a Kineto file that holds several processes, each with correlations of its own: which of them
                               // the thread is of, or launched what is on the stream, from 1; 0: it holds one, or nobody knows
};

// What events refer to by number, each kept once.
struct InternedTables {
  Strings strings;
  Interned<Launch> launches;
  Interned<Capture> captures;
  Interned<CollectiveOp> collective_ops;
  Interned<Dims> dims;
  Interned<OperatorInput> operator_inputs;
  Interned<StackFrame> stacks;
  Shapes shapes;
};

class Catalog : public InternedTables {
 public:
  std::vector<Process> processes;
  std::vector<Track> tracks;

  // One of AllInterned.
  template <typename T>
  Interned<T>& interned() {
    return std::get<Interned<T>&>(std::tie(launches, captures, collective_ops, dims, operator_inputs, stacks));
  }
  template <typename T>
  const Interned<T>& interned() const {
    return const_cast<Catalog*>(this)->interned<T>();
  }

  ProcessId add_process(Process process);
  // The track of this process, made at its first use. O(1).
  TrackId track(ProcessId process, TrackKind kind, std::int64_t group, std::int64_t id,
                std::string_view group_name = "");

 private:
  struct TrackKey {
    ProcessId process;
    TrackKind kind;
    std::int64_t group, id;
    StringId group_name;
    bool operator==(const TrackKey&) const = default;
  };
  struct TrackKeyHash {
    std::size_t operator()(const TrackKey& key) const;
  };
  std::unordered_map<TrackKey, TrackId, TrackKeyHash> track_ids_;
};

// Sums over kinds.

// The first kinds of the table, up to nccl: what a recording of ours holds; always shown.
inline constexpr std::size_t kRecordedKinds = static_cast<std::size_t>(Kind::nccl) + 1;

inline std::uint64_t total(const KindCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace cli
