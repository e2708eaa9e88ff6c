// Finds the collectives of each process among the events of a trace.
//
// Of a recording, calls of NCCL are events; their work is what was launched within the call, or within the end of the group
// that holds it, on its thread. Work of a CUDA graph tells which call it was captured in; that call itself did nothing. Of a
// profile, kernels of NCCL are calls, and tell what PyTorch knew of them unless they were launched before it began; what a kernel
// of sends and receives does is told by PyTorch's operator or annotation that it was launched in ("nccl:all_to_all").
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/base/interning.h"
#include "cli/timeline/collectives/gpu_ledger.h"
#include "cli/timeline/collectives/operations.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli {

// What each process of a trace did in collectives, before they are matched over ranks (match.h): its calls, in lanes.
//
// A lane is a sequence of calls of one process whose counterparts on another rank are a lane, too: of one communicator (or of
// a stream, where the communicator is not known) and one class, and of sends and receives of one pair of ranks. Calls of a
// lane have positions. Numbered ones were counted by the program itself (NCCL's calls by our agent, PyTorch's Seq), so that
// equal positions on two ranks are the same collective, whatever is missing between them. Counted ones are numbered in the
// order of what is in the trace, which begins somewhere: which positions belong together has to be found.
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// What a call does: equal on all ranks that do the same.
struct CollectiveWhat {
  Operation operation = Operation::unknown;
  std::int64_t message_bytes = -1;  // as NCCL tells it (size_of_messages); -1: unknown, as below
  std::int64_t buffer_bytes = -1;   // as PyTorch tells it (size_of_buffers)
  std::int64_t reduction = -1;      // ncclRedOp_t
  std::int64_t root = -1;           // rank in the communicator
  std::int64_t data_type = -1;      // ncclDataType_t

  bool operator==(const CollectiveWhat&) const = default;
};

template <typename F, typename T>
constexpr void payload_fields(F& f, T& w)
  requires std::is_same_v<std::remove_const_t<T>, CollectiveWhat>
{
  f.number("operation", w.operation);
  f.number("message_bytes", w.message_bytes);
  f.number("buffer_bytes", w.buffer_bytes);
  f.number("reduction", w.reduction);
  f.number("root", w.root);
  f.number("data_type", w.data_type);
}

// Nothing that both tell differs.
bool can_be_same(const CollectiveWhat& one, const CollectiveWhat& other);

using WhatId = std::uint32_t;          // in CollectiveCalls::whats
using CommunicatorId = std::uint32_t;  // in CollectiveCalls::communicators

struct CollectiveCall {
  std::int64_t host_start_ns = kNoTime, host_end_ns = kNoTime;  // of the call; kNoTime: it, or its end, was not seen
  std::int64_t gpu_start_ns = kNoTime, gpu_end_ns = kNoTime;    // of its work, from first to last; the same
  std::int64_t exposed_ns = 0;   // how long its work ran and no compute did on the device
  std::int64_t position = 0;     // in its lane
  WhatId what = 0;
  std::uint32_t group = 0;       // calls that NCCL launched together have one number, not 0, within their process
  GpuAccounts before;            // of its device, as of gpu_start_ns
  TrackId gpu_track = 0;         // of its first work, where gpu_start_ns is known
  StringId gpu_name = 0;         // ... as it is called
  // Its group launched work, all of which has ended; which of it is of this call is not known where that has no times.
  bool group_has_ended = false;
};

enum class Numbering : std::uint8_t { numbered, counted };

struct CollectiveLane {
  CommunicatorId communicator = 0;
  Numbering numbering = Numbering::counted;
  std::int64_t ordinal_step = 1;  // how far positions of calls with successive numbers are apart: several calls may share one
  bool whole_beginning = false;   // counted from the first one of the recording: nothing before it is missing
  std::int32_t source = -1, destination = -1;  // of sends and receives: ranks in the communicator; -1: of others, or unknown
  std::int32_t own_rank = -1;  // in the communicator; -1: not told
  bool point_to_point = false;
  bool replay = false;  // of CUDA graphs
  std::vector<CollectiveCall> calls;  // by position, ascending
};

// Work of one kind that does not communicate: kernels of one name and launch, or copies and memsets of one name.
struct WorkSum {
  StringId name = 0;
  LaunchId launch = 0;
  bool computes = false;
  std::int64_t count = 0, sum_ns = 0;
};

// What the host did while its GPU waited for a launch (GpuAccounts::late_launch_ns), where its calls are recorded.
struct HostDelay {
  std::int64_t outside_ns = 0;  // no call of CUDA: the program itself
  std::int64_t collecting_ns = 0;  // of that: Python's garbage collector ran, on whichever thread, with the GIL
  std::vector<std::pair<StringId, std::int64_t>> in_calls;  // name, ns; the longest first

  // What it did most; neither: the program itself.
  bool mostly_in_call() const { return !in_calls.empty() && in_calls[0].second > outside_ns; }
  bool mostly_collecting() const { return !mostly_in_call() && 2 * collecting_ns > outside_ns; }
};

struct ProcessCalls {
  std::vector<CollectiveLane> lanes;
  std::uint64_t works_without_call = 0;  // communication of the GPU of which it is not known which call it is of
  std::vector<WorkSum> work = {};        // by name, launch
  bool knows_launches = false;           // of work: when the host launched it
  HostDelay host_delay = {};
};

// Over all ranks.
struct CommunicatorInfo {
  std::string label;        // "0x00000000c0ffee00", or PyTorch's name of the group: "0"; "": not known
  std::string description;  // PyTorch's: "default_pg", "mesh_tp"; ""
  std::uint32_t epoch = 0;  // how often one of this hash was made; 0: unknown
  std::int64_t size = -1;   // ranks, as it was told; -1: unknown
  std::string scope;        // of which run and phase it is, where a trace has several
  std::string members;      // as PyTorch wrote them, which groups of one name are told apart by; ""

  bool operator==(const CommunicatorInfo&) const = default;
};

// Several readers may each find those of some processes (join_calls()).
struct CollectiveCalls {
  std::vector<ProcessCalls> processes;  // by ProcessId
  Interned<CollectiveWhat> whats;
  std::vector<CommunicatorInfo> communicators;
};

// Those of another part of the trace, behind those that there are: its processes follow `to`'s, or those up to `first` that have
// none.
void join_calls(CollectiveCalls from, ProcessId first, CollectiveCalls& to);

class CallCollector {
 public:
  virtual ~CallCollector() = default;

  // Every event, by start, enclosing ones first. `computes`: it is GPU work that computes, behind which communication hides.
  virtual void event(const Event& event, const Facts& facts, bool computes) = 0;

  // EventSink::end_of(): frees temporary data. Optional.
  virtual void end_of(ProcessId process) = 0;

  // After the last one, once.
  virtual CollectiveCalls take() = 0;
};

// What is found: `calls` are those, with the times of their work; `reasons` besides why a rank is late (CollectiveCall::exposed_ns
// and before, ProcessCalls::work and host_delay), which takes as long again.
enum class CallDetail : std::uint8_t { calls, reasons };

// `catalog` outlives it, and is complete.
std::unique_ptr<CallCollector> make_call_collector(const Catalog& catalog, CallDetail detail = CallDetail::reasons);

}  // namespace cli
