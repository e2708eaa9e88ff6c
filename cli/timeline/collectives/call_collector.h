// Finds the collectives of each process among the events of a trace.
//
// In a recording, NCCL calls are events. The GPU work of a call is the work launched on its thread within the call, or
// within the end of the group that contains it. Work of a CUDA graph belongs to the call that was captured; that call
// itself launched nothing. In a profile, NCCL kernels are the calls. They carry PyTorch's metadata unless they were
// launched before profiling began. The operation of a send-receive kernel follows from the PyTorch operator or
// annotation in which it was launched ("nccl:all_to_all").
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/base/interning.h"
#include "cli/timeline/collectives/gpu_ledger.h"
#include "cli/timeline/collectives/operations.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli {

// The collective calls of each process, in lanes, before they are matched over ranks (match.h).
//
// A lane is a sequence of calls of one process that corresponds to a lane on another rank. It contains the calls of one
// communicator (or of one stream if the communicator is unknown) and one class; sends and receives have a lane for each
// pair of ranks. Calls of a lane have positions. Numbered positions were counted by the program itself (NCCL calls by
// our agent, PyTorch's Seq), so equal positions on two ranks are the same collective, whatever is missing between them.
// Counted positions follow the order of the calls in the trace, which may begin anywhere, so the positions that belong
// together have to be found.
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// The properties of a call that are equal on all ranks of a collective.
struct CollectiveWhat {
  Operation operation = Operation::unknown;
  std::int64_t message_bytes = -1;  // from NCCL's payload (size_of_messages); -1 if unknown, as in the members below
  std::int64_t buffer_bytes = -1;   // from PyTorch's metadata (size_of_buffers)
  std::int64_t reduction = -1;      // ncclRedOp_t
  std::int64_t root = -1;           // rank in the communicator
  std::int64_t data_type = -1;      // ncclDataType_t

  bool operator==(const CollectiveWhat&) const = default;

  static constexpr void fields(auto& f, auto& w) {
    f.number("operation", w.operation);
    f.number("message_bytes", w.message_bytes);
    f.number("buffer_bytes", w.buffer_bytes);
    f.number("reduction", w.reduction);
    f.number("root", w.root);
    f.number("data_type", w.data_type);
  }
};

// Returns true if no property that is known of both differs.
bool can_be_same(const CollectiveWhat& one, const CollectiveWhat& other);

using WhatId = std::uint32_t;          // in CollectiveCalls::whats
using CommunicatorId = std::uint32_t;  // in CollectiveCalls::communicators

struct CollectiveCall {
  // Times of the call; kNoTime if it or its end was not recorded
  std::int64_t host_start_ns = kNoTime, host_end_ns = kNoTime;
  // Times of its GPU work, first start to last end; kNoTime if not recorded
  std::int64_t gpu_start_ns = kNoTime, gpu_end_ns = kNoTime;
  std::int64_t exposed_ns = 0;  // time in which its work ran on the device without compute
  std::int64_t position = 0;    // in its lane
  WhatId what = 0;
  std::uint32_t group = 0;  // number shared by calls of the process that NCCL launched together; 0 if none
  GpuAccounts before;       // accounts of its device at gpu_start_ns
  TrackId gpu_track = 0;    // of its first GPU work, if gpu_start_ns is known
  StringId gpu_name = 0;    // name of that work
  // The group of the call launched work, and all of that work has ended. If the call has no GPU times, it is unknown
  // which part of the work belongs to it.
  bool group_has_ended = false;
};

enum class Numbering : std::uint8_t { numbered, counted };

// The properties by which a call is assigned to a lane. All calls of a lane share them.
struct LaneKind {
  CommunicatorId communicator = 0;
  Numbering numbering = Numbering::counted;
  bool replay = false;  // of CUDA graphs
  bool point_to_point = false;
  // Ranks in the communicator: its own, and for sends and receives the two; -1 for other calls or if unknown
  std::int32_t own_rank = -1, source = -1, destination = -1;
  auto operator<=>(const LaneKind&) const = default;
};

struct CollectiveLane : LaneKind {
  // Distance between positions of calls with successive numbers; several calls may share one number
  std::int64_t ordinal_step = 1;
  bool whole_beginning = false;       // counted from the first call of the recording: no earlier call is missing
  std::vector<CollectiveCall> calls;  // by position, ascending
};

// GPU work of one kind that does not communicate: kernels with the same name and launch, or copies and memsets with the
// same name.
struct WorkSum {
  StringId name = 0;
  LaunchId launch = 0;
  bool computes = false;
  std::int64_t count = 0, sum_ns = 0;
};

// Host activity while the GPU waited for a launch (GpuAccounts::late_launch_ns), if the host's calls are recorded.
struct HostDelay {
  std::int64_t outside_ns = 0;  // outside CUDA calls: in the program itself
  // Part of outside_ns in which Python's garbage collector ran on any thread while holding the GIL
  std::int64_t collecting_ns = 0;
  std::vector<std::pair<StringId, std::int64_t>> in_calls;  // name, ns; the longest first

  // The largest part of the delay. If neither returns true, it is the program itself.
  bool mostly_in_call() const { return !in_calls.empty() && in_calls[0].second > outside_ns; }
  bool mostly_collecting() const { return !mostly_in_call() && 2 * collecting_ns > outside_ns; }
};

struct ProcessCalls {
  std::vector<CollectiveLane> lanes;
  std::uint64_t works_without_call = 0;  // GPU communication of an unknown call
  std::vector<WorkSum> work = {};        // by name, launch
  bool knows_launches = false;           // the work has launch times of the host
  HostDelay host_delay = {};
};

// A communicator, over all ranks.
struct CommunicatorInfo {
  std::string label;        // "0x00000000c0ffee00", or PyTorch's name of the group: "0"; empty if unknown
  std::string description;  // from PyTorch: "default_pg", "mesh_tp"; may be empty
  std::uint32_t epoch = 0;  // number of the communicator among those with this hash; 0 if unknown
  std::int64_t size = -1;   // number of ranks, as recorded; -1 if unknown
  std::string scope;        // run and phase, if a trace has several
  std::string members;      // as PyTorch wrote them; distinguishes groups of one name; may be empty

  bool operator==(const CommunicatorInfo&) const = default;
};

// Several readers may each collect the calls of some processes (join_calls()).
struct CollectiveCalls {
  std::vector<ProcessCalls> processes;  // by ProcessId
  Interned<CollectiveWhat> whats;
  std::vector<CommunicatorInfo> communicators;
};

// Appends the calls of another part of the trace to `to`. Its processes follow those of `to`, which is first extended
// to `first` processes.
void join_calls(CollectiveCalls from, ProcessId first, CollectiveCalls& to);

class CallCollector {
 public:
  virtual ~CallCollector() = default;

  // Adds an event. All events have to be added, by start, enclosing ones first. `computes` is true for GPU work that
  // computes and so can hide communication.
  virtual void event(const Event& event, const Facts& facts, bool computes) = 0;

  // Frees temporary data of the process, as EventSink::end_of(). Optional.
  virtual void end_of(ProcessId process) = 0;

  // Returns the calls. Called once, after the last event.
  virtual CollectiveCalls take() = 0;
};

// What is collected: `calls` are the calls with the times of their work; `reasons` adds the data that explains why a
// rank is late (CollectiveCall::exposed_ns and before, ProcessCalls::work and host_delay), which doubles the time.
enum class CallDetail : std::uint8_t { calls, reasons };

// `catalog` is complete and has to outlive the collector.
std::unique_ptr<CallCollector> make_call_collector(const Catalog& catalog, CallDetail detail = CallDetail::reasons);

}  // namespace cli
