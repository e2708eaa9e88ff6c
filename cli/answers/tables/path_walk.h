// The critical path: what held a step, at each moment of it. It is found by walking back from the step's end, each time to what
// let the present thing begin or go on; so its segments follow each other without a hole, and their sum is the step's length.
//
// 1. A step begins where the last GPU work ended that was launched before it (before the step's range began on the rank; work
//    whose launch is not known counts as launched with what began before it on the rank), and ends where the last one ended that
//    was launched in it; of all chosen ranks of a run that share some of its time, on the axis. Where no call at all is in the
//    trace, work counts as launched when it began. The walk starts at the work that ends there. It stops at the begin.
// 2. GPU work held the path from its start on, and is of its class and its rank.
// 3. But a collective in which every rank depends on all held it from the last start of its ranks: that is its transfer, and of no
//    rank. The walk goes on at the start of the rank that was last. (It needs all starts, and clocks that can be compared. Where
//    that rank is none of the chosen ones, the time from the last start of these is unexplained.)
// 4. What let work start at s is what is known to come before it: the work before it on its stream, if that still ran when the
//    call began that launched this work; else this call, from its return on; or what its stream waited for by an event, if that ended
//    later. It explains a start kLatency_ns later at most, and that time is `queued`. If it does not, the stream waited for another
//    one: what ended last by then on the device, if that is kLatency_ns ago at most. Else it is not known: up to what ended last of
//    all these the time is `unexplained`.
// 5. A call that launched work held the path from its begin to its return or the work's start: `launch`. Before that it is the
//    host's own time, back to where the host came out of a wait (device_gaps.h; of any thread of the rank, the last one): `launch`
//    in calls that launch, else `host`. What the host was in is told of the thread of the call; where that comes out of nothing, of the
//    thread of the rank that was in something then, and came into it last; and so on.
// 6. A wait ended because the work of the rank had ended, which of all ended last by then: from its end on it is `sync`, and before
//    that the work held the path. If that had ended before the wait began, the host did not wait, and all of the call is `sync`.
//
// Time decreases with each segment, or, of those without length, the order of what began: the walk ends. It looks up what lies on
// the path alone.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "cli/answers/tables/path_trace.h"
#include "cli/trace/names.h"

namespace cli {

enum class PathPart : std::uint8_t { work, launch, queued, host, sync, unexplained };

struct PathSegment {
  std::int64_t from_ns = 0, to_ns = 0;
  PathPart part = PathPart::unexplained;
  std::optional<ProcessId> process;  // that held it; empty: all ranks of a collective
  std::uint32_t work_class = 0;      // of work
  StringId name = 0;                 // of the kernel; of the call, operator or range that the host was in; 0: none
};

class PathWalk {
 public:
  static constexpr std::int64_t kLatency_ns = 30'000;  // as of device_gaps.h

  // Both outlive it; `trace` has met.
  PathWalk(const PathTrace& trace, const Catalog& catalog) : trace_(trace), names_(catalog.strings) {}

  // The segments of a step, the last one first; none is without length.
  void walk(const PathSpan& span, const std::function<void(const PathSegment&)>& segment);

  // Starts that the work of another stream explained, which the trace does not tell.
  std::uint64_t inferred() const { return inferred_; }

 private:
  void hold(PathPart part, std::int64_t from_ns, std::optional<ProcessId> process, std::uint32_t work_class = 0, StringId name = 0);
  void in_work();
  void at_start(PathWorkId id);
  void in_call(PathWorkId id);
  void on_host(TrackId thread);
  void in_calls(TrackId thread, std::int64_t from_ns);
  StringId call_name(const PathWork& work) const;

  const PathTrace& trace_;
  NameClasses names_;
  const std::function<void(const PathSegment&)>* segment_ = nullptr;
  std::int64_t begin_ns_ = 0, now_ns_ = 0;  // of the step; what is behind it is told
  std::optional<PathWorkId> work_;          // that holds the path before now_ns_; empty: nothing is known, or it is at the begin
  std::uint64_t inferred_ = 0;
};

}  // namespace cli
