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
#include "cli/trace/shapes.h"
#include "cli/trace/strings.h"
#include "cli/trace/words.h"
#include "common/layout.h"
#include "common/record.h"

namespace cli {

// What a recording says besides its events: of its GPUs, its communicators and of itself. It goes into merged files
// with the process that it belongs to. Numbers are -1 or 0, texts empty, where nothing is known.

// As CUPTI and the driver describe a GPU; the limits are what occupancy is computed from.
struct Device {
  std::int64_t device = 0;  // as CUPTI and this process number it
  std::string name;
  std::string given_name;  // by the program: nvtxNameCudaDeviceA
  std::string uuid;        // "GPU-5a6b7c8d-..."
  std::string pci_bus_id;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bandwidth_kbps = 0;  // kB/s
  std::uint32_t multiprocessors = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t core_clock_khz = 0;
  std::uint32_t l2_bytes = 0;
  std::uint32_t threads_per_warp = 0;
  std::uint32_t max_threads_per_block = 0;
  std::uint32_t max_warps_per_multiprocessor = 0;
  std::uint32_t max_blocks_per_multiprocessor = 0;
  std::uint32_t max_registers_per_block = 0;
  std::uint32_t max_registers_per_multiprocessor = 0;
  std::uint32_t max_shared_bytes_per_block = 0;
  std::uint32_t max_shared_bytes_per_multiprocessor = 0;
  std::uint32_t copy_engines = 0;

  bool operator==(const Device&) const = default;
};

// As NCCL's init ranges describe it.
struct Communicator {
  std::uint64_t communicator = 0;  // NCCL's hash; 0: NCCL did not tell it
  std::uint64_t parent = 0;        // of a split
  std::int64_t rank = -1;
  std::int64_t ranks = -1;
  std::int64_t device = -1;
  std::int64_t color = -1;
  std::int64_t key = -1;
  std::uint32_t epoch = 0;

  bool operator==(const Communicator&) const = default;
};

// What happened to the recording itself; an event of Kind::notice, too.
struct Notice {
  trace::NoticeCode code{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // start_ns for a moment; 0: had not ended
  std::uint32_t value = 0;
  std::string text;  // a sentence for people

  bool operator==(const Notice&) const = default;
};

// How it was recorded.
struct Recorder {
  std::string agent_version;  // "": not one of our recordings
  std::string events;         // TRACETOOL_EVENTS as it was understood
  RecordingMode mode = RecordingMode::unknown;
  trace::SourceState cupti_state{};
  std::string cupti_holder;   // who holds it where it is taken
  std::string cupti_path;
  trace::SourceState nvtx_state{};
  std::int64_t cupti_error = 0;           // CUptiResult
  std::uint32_t cupti_version = 0;        // cuptiGetVersion
  std::uint32_t cuda_driver_version = 0;  // 13000 is 13.0
  std::uint32_t nccl_version = 0;         // 22809 is 2.28.9
  std::uint64_t truncated_names = 0;        // cut because they were too long
  std::uint64_t discarded_buffers = 0;         // buffers of CUPTI thrown away: what was in them is not known
  std::uint64_t definitions_missed = 0;   // costs space, loses nothing
  std::uint64_t invalid_timestamps = 0;            // records whose times were not 0 < start <= end
  std::uint64_t removed_runs = 0;         // earlier runs that it removed; 0 in merged files, which have only the note
  std::uint64_t stacks_left_out = 0;      // of calls: above the rate, or native ones not to be told
  std::uint64_t operators_without_stack = 0;  // requested, but no room
  std::uint64_t module_names_missed = 0;      // no room
  trace::SourceState spool_state{};       // off: there is none; failed: it ended early
  std::int64_t spool_error = 0;           // errno
  std::uint64_t spooled_bytes = 0;
  std::string local_path;  // where the ring lies when it cannot lie in the run's directory
  std::uint64_t agent_cpu_ns = 0;
  std::int64_t created_ns = 0;
  std::int64_t heartbeat_ns = 0;  // the last one
  std::int64_t newest_gpu_end_ns = 0;  // of all work of the GPU that the file holds; 0: none

  bool operator==(const Recorder&) const = default;
};

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
