// CUPTI's records to ours, once, as early as possible. Each kind has one function and one row in kTranslators
// (translate.cpp). CUPTI writes the newest layout of the installed library, so only what is common to all versions from
// 11.8 on is read, through the oldest struct that has it (CUpti_ActivityKernel5, Memcpy4, MemcpyPtoP3, Memset3: graph
// ids are their last members), and sizeof never steps through a buffer. gpu_work.h has the exceptions.
//
// Left out: DEVICE, whose facts the driver tells at any time, and with them the PCI bus id (cupti/devices.h); NAME and
// MARKER, which CUPTI makes only where it is itself the process's NVTX tool: ours is (nvtx/).
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

// Where translated records go, and what the translators remember. One per process, used under its owner's lock.
class Translation {
 public:
  // Begins and ends a buffer. False: no block is available.
  bool begin() noexcept;
  void end() noexcept;
  // Appends one CUPTI record, or counts it as lost, or as unknown: a kind without a row, or one that TRACETOOL_EVENTS
  // leaves out and another user of CUPTI in this process asked for.
  void record(const CUpti_Activity* activity) noexcept;

  // For the translators.
  bool room(trace::RecordKind kind, std::size_t bytes) noexcept;  // false: counted as lost
  template <typename Record>
  void append(const Record& record) noexcept {
    writer_.append(&record, sizeof(record));
  }
  // The shape's reference in the current block, where room has been made for the record that uses it; makes more room
  // for a new shape. kNoRef: lost, and counted.
  std::uint32_t kernel_shape(const CUpti_ActivityKernel5& kernel, std::size_t record_bytes) noexcept;
  void name_api(trace::RecordKind domain, std::uint32_t cbid) noexcept;
  void name_thread(std::uint32_t tid) noexcept;
  // Into the region, once. Where that has no room (streams have half of it), into the block, for as long as it lives.
  void define_context(const trace::ContextRecord& record) noexcept;
  void define_stream(const trace::StreamRecord& record) noexcept;
  // Of every record of work of the GPU, once.
  void note_gpu_work(std::uint64_t end_cupti_ns) noexcept { gpu_work_.note(end_cupti_ns); }
  const GpuWork& gpu_work() const noexcept { return gpu_work_; }
  // A time of CUPTI's as it is recorded: in the clock that CUPTI had, also where somebody gave it another (cupti_clock.h).
  // 0: CUPTI took none, or nobody can tell.
  std::uint64_t time(std::uint64_t cupti_ns) noexcept {
    return window_.has(cupti_ns) || cupti_ns == 0 ? cupti_ns : foreign_time(cupti_ns);
  }
  // The same of both; counts those that are not 0 < start <= end then.
  struct Times {
    std::uint64_t start, end;
    bool are_odd() const noexcept { return start == 0 || end < start; }
  };
  Times times(std::uint64_t start_cupti_ns, std::uint64_t end_cupti_ns) noexcept {
    const Times both{time(start_cupti_ns), time(end_cupti_ns)};
    if (both.are_odd()) count_invalid_timestamps();
    return both;
  }
  // A foreign time came while CUPTI's clock was taken for ours: it has to be read. Asking ends it.
  bool has_strange_times() noexcept { return std::exchange(strange_, false); }

 private:
  // What tells launches apart, as it stands in CUPTI's record: grid, block and both shared sizes are neighbours there.
  struct Launch {
    const char* name;
    std::uint64_t dimensions[4];
    std::uint16_t registers;
    std::uint8_t launch_type;
    std::uint32_t local_bytes_per_thread;
    Cluster cluster;
  };
  // The shapes of the last launches, found without reading names: same name pointer, same launch, and once in every
  // buffer the text behind the pointer is compared with what was written (a module that is unloaded leaves its
  // addresses to the next).
  struct KnownShape {
    Launch launch;
    std::uint32_t ref;
    std::uint32_t length;
    std::uint64_t ticket;  // 0: in the region
    std::uint64_t verified_in;
    const char* text;  // in the file
  };
  // Where a small permanent thing was last written: in the region for good, or in the block of this ticket.
  struct Written {
    std::uint64_t ticket;
    std::uint32_t key;
    bool in_region;
  };
  // Sets of four, chosen by half of a hash; the other half is looked at before the shape itself.
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
  std::uint64_t wanted_ = 0;  // kinds of CUPTI's records: bit 1 << kind
  std::uint64_t buffer_ = 0;  // how many were begun
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
  trace::RecordKind record;  // what asks for it, and as which a loss is counted
  void (*translate)(Translation&, const CUpti_Activity*) noexcept;
};

// The rows, ended by one without a function. The agent enables those whose event is wanted.
extern const Translator kTranslators[];

}  // namespace agent
