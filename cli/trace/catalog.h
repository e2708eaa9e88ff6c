// The processes of a trace (one per rank), their tracks, and the interned values that events refer to. The catalogue is
// small next to the events, so it stays in memory as a whole. A merged file stores it at its end.
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

// The parts of a recording other than its events: GPUs, communicators and the state of the recorder. A merged file
// stores them with their process. Unknown numbers are -1 or 0, unknown texts are empty.

// A GPU as CUPTI and the driver describe it. Occupancy is computed from the limits.
struct Device {
  std::int64_t device = 0;  // CUDA device number in this process
  std::string name;
  std::string given_name;  // set by the program with nvtxNameCudaDeviceA
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

// A NCCL communicator, from NCCL's init ranges.
struct Communicator {
  std::uint64_t communicator = 0;  // NCCL's hash; 0 if unknown
  std::uint64_t parent = 0;        // hash of the communicator it was split from
  std::int64_t rank = -1;
  std::int64_t ranks = -1;
  std::int64_t device = -1;
  std::int64_t color = -1;
  std::int64_t key = -1;
  std::uint32_t epoch = 0;

  bool operator==(const Communicator&) const = default;
};

// An incident in the recording itself. It is also an event of Kind::notice.
struct Notice {
  trace::NoticeCode code{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // start_ns for an instant; 0 if it had not ended
  std::uint32_t value = 0;
  std::string text;  // a sentence for users

  bool operator==(const Notice&) const = default;
};

// The recorder's settings, state and counters.
struct Recorder {
  std::string agent_version;  // "" if the file is not a tracetool recording
  std::string events;         // TRACETOOL_EVENTS as the agent parsed it
  RecordingMode mode = RecordingMode::unknown;
  trace::SourceState cupti_state{};
  std::string cupti_holder;  // current CUPTI subscriber, if CUPTI is in use by another tool
  std::string cupti_path;
  trace::SourceState nvtx_state{};
  std::int64_t cupti_error = 0;           // CUptiResult
  std::uint32_t cupti_version = 0;        // cuptiGetVersion
  std::uint32_t cuda_driver_version = 0;  // 13000 is 13.0
  std::uint32_t nccl_version = 0;         // 22809 is 2.28.9
  std::uint64_t truncated_names = 0;      // truncated names
  std::uint64_t discarded_buffers = 0;    // discarded CUPTI buffers; their contents are unknown
  std::uint64_t definitions_missed = 0;   // written to blocks because the region was full; no name is lost
  std::uint64_t invalid_timestamps = 0;   // records with invalid timestamps: not 0 < start <= end
  // Earlier runs that the agent removed; 0 in merged files, which keep only the note
  std::uint64_t removed_runs = 0;
  // Calls without a stack: above the rate, or the native stack could not be read
  std::uint64_t stacks_left_out = 0;
  std::uint64_t operators_without_stack = 0;  // a stack was requested, but there was no room
  std::uint64_t module_names_missed = 0;      // modules whose name did not fit
  trace::SourceState spool_state{};           // off: no spool; failed: the spool ended early
  std::int64_t spool_error = 0;               // errno
  std::uint64_t spooled_bytes = 0;
  std::string local_path;  // path of the ring if it cannot be in the run's directory
  std::uint64_t agent_cpu_ns = 0;
  std::int64_t created_ns = 0;
  std::int64_t heartbeat_ns = 0;       // time of the last heartbeat
  std::int64_t newest_gpu_end_ns = 0;  // latest end of any GPU work in the file; 0 if none

  bool operator==(const Recorder&) const = default;
};

using KindCounts = std::array<std::uint64_t, static_cast<std::size_t>(Kind::count_)>;

enum class SourceFormat : std::uint8_t { ring, kineto, nsys };
constexpr std::string_view word(SourceFormat format) {
  constexpr std::string_view kFormats[] = {"ring", "kineto", "nsys"};
  return words::of(kFormats, format);
}

// A position where a file could not be parsed, and the error.
struct Damage {
  std::uint64_t byte = 0;  // offset in the uncompressed text
  std::string what;        // "expected ','; an event is left out, bytes 12 to 99"

  bool operator==(const Damage&) const = default;
};

// GPU work whose recorded end is far after the start of later work on its stream (cli/trace/event_times.h).
struct Overrun {
  std::uint64_t correlation = 0;
  std::int64_t duration_ns = 0;  // as recorded in the file
  std::int64_t cut_ns = 0;       // up to the start of the later work

  bool operator==(const Overrun&) const = default;
};

// One traced process: a ring file, one Kineto file, or a process of an Nsight Systems report.
struct Process {
  std::string source;  // path as given
  SourceFormat format = SourceFormat::ring;
  std::int64_t rank = -1;  // -1: unknown
  std::int64_t local_rank = -1;
  std::int64_t world_size = -1;
  std::int64_t pid = -1;
  RankSource rank_source = RankSource::unknown;
  std::string host;
  std::string boot_id;  // clock domain; "" if unknown
  std::string run_id;
  std::string program;
  std::string device_name;
  RecordingState state = RecordingState::unknown;
  KindCounts counts{};                     // events that were read
  KindCounts overwritten{};                // overwritten by the ring
  KindCounts lost{};                       // events that were never recorded, as counted by the agent
  std::uint64_t lost_unknown_kind = 0;     // CUPTI's own drops; in a Kineto file, events that could not be read
  std::int64_t first_ns = 0, last_ns = 0;  // of all events, on the common axis; 0, 0 if there are none
  // Index of its ClockFit in the trace; -1 if none: its times are already on the common axis
  std::int64_t clock = -1;
  std::int64_t first_unclamped_ns = 0;  // Kineto: first event that is not at relative time 0; 0 if there is none
  // Launch flows are events of Kind::flow; otherwise they follow from correlations
  bool explicit_flows = false;
  std::string cut;                 // position and cause if the file is truncated; else ""
  std::optional<Damage> damage;    // the first damage, preferably one that lost an event
  std::uint64_t text_bytes = 0;    // damaged Kineto file: size of the uncompressed text
  std::uint64_t unread_bytes = 0;  // bytes of it that could not be read
  std::vector<std::string> notes;  // notes for the user: "12 blocks changed while they were read", ...
  Recorder recorder;
  std::vector<Device> devices;
  std::vector<Communicator> communicators;
  std::vector<Notice> notices;
  std::vector<Overrun> overruns;  // Kineto: sorted by correlation and duration
  std::string phase;              // phase of the run ("model_init") if a rank has several files; else ""
  // Kineto: top-level members except the events and their base, verbatim and without braces; else ""
  std::string kineto_header;
  std::uint32_t ranks_drawn = 0;  // Kineto: number of processes with names like those in Chrome exports of tracetool
  std::string kineto_metadata;    // Kineto: metadata events ("ph": "M"), minified, one per line; else ""
  std::optional<std::int64_t> kineto_base_ns;  // Kineto: baseTimeNanoseconds, which every ts was relative to
};

// Returns the time between the newest recorded GPU activity and the last heartbeat if the process is still recording or
// was killed. Empty if unknown.
inline std::optional<std::int64_t> newest_gpu_age_ns(const Process& process) {
  const Recorder& r = process.recorder;
  if (r.newest_gpu_end_ns == 0 || (process.state != RecordingState::live && process.state != RecordingState::recovered))
    return std::nullopt;
  return r.heartbeat_ns > r.newest_gpu_end_ns ? r.heartbeat_ns - r.newest_gpu_end_ns : 0;
}

enum class TrackKind : std::uint8_t { thread, stream, other };

struct Track {
  ProcessId process = 0;
  TrackKind kind = TrackKind::thread;
  std::int64_t group = -1;  // CUDA device of a stream; pid of a thread
  std::int64_t id = 0;      // CUDA stream id; tid of a thread
  std::string name;         // "" if the track has no name
  // other: what groups the tracks ("GPU 0 memory"; the process id of Kineto's "Spans"); else ""
  std::string group_name;
  std::optional<std::int64_t> priority;  // of a stream; lower numbers run first
  // Kineto: the "pid" and "tid" members, verbatim; a second spelling ("7", 7) follows on a second line; else ""
  std::string kineto_ids;
  // Kineto files with several processes that each have their own correlations: number (from 1) of the process that the
  // thread belongs to or that launched the work on the stream. 0 if the file has one process or the launcher is
  // unknown.
  std::uint32_t launcher = 0;
};

// Values that events refer to by id. Equal values are stored once.
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

  // T is a type of AllInterned.
  template <typename T>
  Interned<T>& interned() {
    return std::get<Interned<T>&>(std::tie(launches, captures, collective_ops, dims, operator_inputs, stacks));
  }
  template <typename T>
  const Interned<T>& interned() const {
    return const_cast<Catalog*>(this)->interned<T>();
  }

  ProcessId add_process(Process process);
  // Returns the track of this process. Creates it at the first use. O(1).
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

// The number of leading kinds, up to nccl, that tracetool records. They are always shown.
inline constexpr std::size_t kRecordedKinds = static_cast<std::size_t>(Kind::nccl) + 1;

inline std::uint64_t total(const KindCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace cli
