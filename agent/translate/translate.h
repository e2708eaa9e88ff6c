// Converts CUPTI's records to ours, once and as early as possible. Each kind has one function and one row in
// kTranslators (translate.cpp). CUPTI writes the newest layout of the installed library, so only fields common to all
// versions from 11.8 on are read, through the oldest struct that has them (CUpti_ActivityKernel5, Memcpy4, MemcpyPtoP3,
// Memset3: graph ids are their last members), and sizeof is never used to step through a buffer. gpu_work.h contains
// the exceptions.
//
// Not used: DEVICE, because the driver provides the same data at any time, and the PCI bus id in addition
// (activity/devices.cpp); NAME and MARKER, which CUPTI creates only if it is itself the process's NVTX tool, which the
// agent is (nvtx/).
#pragma once
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "agent/base/agent_settings.h"
#include "agent/clocks/clocks.h"
#include "agent/ring/interner.h"
#include "agent/translate/gpu_work.h"
#include "common/definitions.h"

namespace agent {

// Receives translated records and stores the state of the translators. One per process, used under its owner's lock.
class Translation {
 public:
  // Begin and end a buffer. begin() returns false if no block is available.
  bool begin() noexcept;
  void end() noexcept;
  // Appends a CUPTI record, or counts it as lost or as unknown. Unknown are kinds without a row, and kinds that
  // TRACETOOL_EVENTS excludes and another CUPTI user in this process requested.
  void record(const CUpti_Activity* activity) noexcept;

  // Functions for the translators.
  bool room(trace::RecordKind kind, std::size_t bytes) noexcept;  // returns false if the record was counted as lost
  template <typename Record>
  void append(const Record& record) noexcept {
    writer_.append(&record, sizeof(record));
  }
  // Returns the shape's reference in the current block, in which room has been made for the record that uses it; makes
  // more room for a new shape. Returns kNoRef if it is lost, and counts it.
  std::uint32_t kernel_shape(const CUpti_ActivityKernel5& kernel, std::size_t record_bytes) noexcept;
  void name_api(trace::RecordKind domain, std::uint32_t cbid) noexcept;
  void name_thread(std::uint32_t tid) noexcept;
  // Defines it once in the region; if there is no room (streams may use half of it), in the block, for the block's
  // lifetime.
  void define_context(const trace::ContextRecord& record) noexcept;
  void define_stream(const trace::StreamRecord& record) noexcept;
  // Called once for every record of GPU work.
  void note_gpu_work(std::uint64_t end_cupti_ns) noexcept { gpu_work_.note(end_cupti_ns); }
  const GpuWork& gpu_work() const noexcept { return gpu_work_; }
  // Returns a CUPTI time as recorded: on CUPTI's original clock, even if it was replaced (cupti_clock.h). 0 if CUPTI
  // recorded none, or it is unknown.
  std::uint64_t time(std::uint64_t cupti_ns) noexcept {
    return window_.has(cupti_ns) || cupti_ns == 0 ? cupti_ns : foreign_time(cupti_ns);
  }
  // The same for start and end; counts pairs without 0 < start <= end.
  struct Times {
    std::uint64_t start, end;
    bool are_odd() const noexcept { return start == 0 || end < start; }
  };
  Times times(std::uint64_t start_cupti_ns, std::uint64_t end_cupti_ns) noexcept {
    const Times both{time(start_cupti_ns), time(end_cupti_ns)};
    if (both.are_odd()) count_invalid_timestamps();
    return both;
  }
  // Sets the times of a record.
  template <typename Record, typename Activity>
  Times set_times(Record& record, const Activity& activity) noexcept {
    const Times both = times(activity.start, activity.end);
    record.start_cupti_ns = both.start;
    record.end_cupti_ns = both.end;
    return both;
  }
  // Returns true if a foreign time occurred while CUPTI's clock was assumed to be ours, so the clock has to be read.
  // Resets the state.
  bool has_strange_times() noexcept { return std::exchange(strange_, false); }

 private:
  // The members of CUPTI's record that distinguish launches. Grid, block and both shared sizes are adjacent there.
  struct Launch {
    const char* name;
    std::uint64_t dimensions[4];
    std::uint16_t registers;
    std::uint8_t launch_type;
    std::uint32_t local_bytes_per_thread;
    Cluster cluster;
  };
  // The shapes of the last launches, found without reading names: same name pointer and same launch. Once per buffer
  // the text at the pointer is compared with the recorded one, because the addresses of an unloaded module are reused.
  struct KnownShape {
    Launch launch;
    std::uint32_t ref;
    std::uint32_t length;
    std::uint64_t ticket;  // 0 if in the region
    std::uint64_t verified_in;
    const char* text;  // in the file
  };
  // The last location of a small permanent definition: in the region, or in the block with this ticket.
  struct Written {
    std::uint64_t ticket;
    std::uint32_t key;
    bool in_region;
  };
  // Sets of four, selected by half of a hash; the other half is compared before the shape itself.
  static constexpr std::size_t kSets = 1024;
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kApis = 2048;
  static constexpr std::size_t kThreads = 2048;
  static constexpr std::size_t kProbes = 16;
  static constexpr std::size_t kContexts = 64;
  static constexpr std::size_t kStreams = 1024;

  std::uint64_t foreign_time(std::uint64_t cupti_ns) noexcept;
  void count_invalid_timestamps() noexcept;
  std::uint32_t new_shape(const Launch& launch, std::size_t record_bytes) noexcept;
  static Launch launch_of(const CUpti_ActivityKernel5& kernel) noexcept;
  bool is_known(KnownShape& known, const Launch& launch) const noexcept;
  void remember(KnownShape& known, const Launch& launch, std::uint32_t ref) noexcept;
  template <typename Make>
  void write_once(Written& written, std::uint32_t key, const Make& make) noexcept;
  template <typename Record>
  void define_once(Record& known, const Record& record, std::size_t keep_free) noexcept;

  Writer writer_;
  std::uint64_t wanted_ = 0;  // kinds of CUPTI records: bit 1 << kind
  std::uint64_t buffer_ = 0;  // number of buffers begun
  GpuWork gpu_work_{};
  TimeWindow window_{};
  bool strange_ = false;
  std::uint32_t tags_[kSets][kWays]{};
  KnownShape shapes_[kSets][kWays]{};
  std::uint32_t next_way_ = 0;
  Written apis_[kApis]{};
  Written threads_[kThreads]{};
  trace::ContextRecord contexts_[kContexts]{};  // the last ones in the region, by number
  trace::StreamRecord streams_[kStreams]{};
};

struct Translator {
  CUpti_ActivityKind activity;
  trace::RecordKind record;  // event that requests it, and as which a loss is counted
  void (*translate)(Translation&, const CUpti_Activity*) noexcept;
};

// The rows, terminated by one without a function. The agent enables those whose event is wanted.
extern const Translator kTranslators[];

// Copies the members that many of CUPTI's records have.
template <typename Record, typename Activity>
void copy_members(Record& record, const Activity& activity) noexcept {
  record.correlation = activity.correlationId;
  if constexpr (requires { record.device, activity.deviceId; })
    record.device = static_cast<decltype(record.device)>(activity.deviceId);
  if constexpr (requires { record.context, activity.contextId; }) record.context = activity.contextId;
  if constexpr (requires { record.stream, activity.streamId; }) record.stream = activity.streamId;
  if constexpr (requires { record.bytes, activity.bytes; }) record.bytes = activity.bytes;
  if constexpr (requires { record.graph, activity.graphId; }) record.graph = activity.graphId;
  if constexpr (requires { record.graph_node, activity.graphNodeId; }) record.graph_node = activity.graphNodeId;
}

}  // namespace agent
