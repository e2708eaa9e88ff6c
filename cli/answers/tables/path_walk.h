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
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/windows.h"
#include "cli/trace/event_times.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/names.h"

namespace cli {

// What the critical path is found in (path_walk.h): of chosen ranks the work of the GPUs, what the threads of the host were in, their
// waits, and where ranks met in collectives. It is told the trace once, in the order of time.
//
// Memory: 72 bytes for each piece of GPU work of the chosen steps (of the whole trace where it has none), 32 for each call and range
// from the first of them on (a rank's path may be held by what its host did behind its own step), and 24 for each call that launch_calls.h
// keeps. What was launched before the first of these steps is forgotten but for the work of
// each stream that ended last; what was launched behind the last is not taken. When kMost pieces of work and changes of what a
// thread was in are kept, is_full() holds, and nothing more is taken.

// In PathTrace.
struct PathWorkId {
  TrackId stream = 0;
  std::uint32_t at = 0;
  bool operator==(const PathWorkId&) const = default;
};

struct PathWork {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t call_start_ns = 0, call_end_ns = 0;  // of the call that launched it, where `thread` is known
  std::optional<TrackId> thread;
  StringId name = 0;
  std::uint32_t work_class = 0;   // as the user of this numbers them
  std::uint32_t order = 0;        // of the process's work, by start
  std::uint32_t longest = 0;      // of its stream up to here: which ended last
  std::uint32_t meeting = 0;      // in PathTrace's, + 1; 0: none
};
static_assert(sizeof(PathWork) == 64);

// A collective in which every rank depends on all. All ranks had begun it at last_start_ns; of the chosen ones `last` began
// it last.
struct PathMeeting {
  std::int64_t last_start_ns = 0;
  PathWorkId last;
};

// What a thread of the host was in from a moment on, until the next: the outermost call of CUDA; in none the innermost operator or
// range, which is of those that are open that which began last.
struct HostChange {
  std::int64_t from_ns = 0;
  StringId name : 31 = 0;  // 0: in nothing
  StringId is_call : 1 = false;
};
static_assert(sizeof(HostChange) == 16);

// What a critical path is of: the time from the end of what was launched before a step to the end of what was launched in it.
struct PathSpan {
  std::optional<std::int64_t> step;
  std::int64_t from_ns = 0, to_ns = 0;
  PathWorkId last;  // it ended at to_ns
};

class PathTrace {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 23;

  // `steps`: the chosen ones of each process (whole_steps.h), by the host's time; of processes without any all is kept. Both outlive it.
  PathTrace(const AnalysisContext& context, const Windows& steps);

  // A call of the runtime or driver, an operator, an annotation or an NVTX range.
  void host(const Event& event);
  // A synchronization: of a stream with an event, where the trace tells which call recorded that.
  void sync(const Event& event, const Facts& facts);
  // The times of `work.call` are not looked at: they are not on the axis.
  void work(const GpuWork& work, std::uint32_t work_class);
  // No more events of this process come.
  void end_of(ProcessId process) {
    if (is_full()) return free_all();
    std::vector<LaunchCall>().swap(processes_[process].calls);
    waits_.forget(process);
  }
  // After the last one, once.
  void meet(const TraceCollectives& collectives);

  bool is_full() const { return kept_ >= kMost; }
  // By their begin, each with some work; a step of ranks that share no time is several. `whole`: where no process has steps, one of all that runs in this time as a whole.
  std::vector<PathSpan> spans(const AnalysisWindow& whole) const;

  const PathWork& operator[](PathWorkId id) const { return streams_[id.stream].work[id.at]; }
  ProcessId process_of(PathWorkId id) const { return catalog_.tracks[id.stream].process; }
  // The work before it on its stream: of what began before it what ended last.
  std::optional<PathWorkId> before(PathWorkId id) const;
  // Of the work that ended by this work's start what it waited for by events, from the launch before it on its stream on: that which
  // ended last. (An event is recorded behind the work of its stream that was launched before.)
  std::optional<PathWorkId> awaited_by(PathWorkId id) const;
  // Of the process (of one device of it) what ended last, by then; of several that which began last. `older_than`: in the order
  // of starts before this work.
  std::optional<PathWorkId> ended_by(ProcessId process, std::int64_t ns, std::optional<PathWorkId> older_than) const;
  // Of the process's waits that began before this moment that which ended last, by then; of several the shortest.
  const HostWait* wait_by(ProcessId process, std::int64_t ns) const;
  // The newest one before this moment.
  std::optional<HostChange> change_before(TrackId thread, std::int64_t ns) const;
  // Of the process's threads that one which came into something last before this moment, and was in it then; of several that with the
  // lowest number. None: all were in nothing.
  std::optional<TrackId> thread_before(ProcessId process, std::int64_t ns) const;
  // When any thread of the process came out of or into something last before this moment; kEarliest_ns: none did.
  std::int64_t changed_before(ProcessId process, std::int64_t ns) const;
  const PathMeeting* meeting_of(PathWorkId id) const;
  bool knows_launches() const { return knows_launches_; }
  // Collectives that no path follows, because the clocks of their ranks cannot be compared.
  std::uint64_t uncompared() const { return uncompared_; }

 private:
  struct EventWait {
    std::int64_t called_ns;
    TrackId recorded_on;
    std::int64_t recorded_ns;  // when the call began
  };
  struct Stream {
    std::vector<PathWork> work;
    std::vector<EventWait> waits;  // by called_ns
    bool is_before = false;  // its only work was launched before the first step
  };
  struct Open {
    std::int64_t end_ns;
    StringId name;
  };
  struct Thread {
    std::vector<HostChange> changes;
    std::vector<Open> ranges;        // that are open, by start
    std::optional<Open> call;        // the outermost one that is open
    std::int64_t next_end_ns = kLatest_ns;  // none of these ends before
    std::size_t prune_at = 1024;
  };
  // Of a process: what was launched before, in and between its steps, in turn.
  struct Zone {
    std::int64_t end_ns = kEarliest_ns;  // of that which ended last; of several the first
    PathWorkId last;
  };
  struct OfProcess {
    std::vector<Zone> zones;               // twice its steps and one
    std::vector<LaunchCall> calls;         // those of AnalysisContext::calls by their place there, but on the axis
    bool has_calls = false;  // in the trace; else work counts as launched when it began
    std::int64_t launched_ns = kEarliest_ns;  // when the last work whose call is known was launched
    std::uint32_t works = 0;
    std::vector<HostWait> waits;
    std::vector<PathWorkId> by_end;
    std::vector<TrackId> threads;
  };

  std::size_t zone_at(ProcessId process, std::int64_t launched_ns) const;
  void note(OfProcess& of, std::size_t zone, PathWorkId id);
  std::optional<PathWorkId> recorded(const EventWait& wait) const;
  void enter(Thread& thread, const Event& event);
  void leave(Thread& thread, std::int64_t now_ns);
  void change(Thread& thread, std::int64_t from_ns);
  void prune(Thread& thread, std::int64_t before_ns);
  // A full trace is never queried.
  void free_all() {
    std::vector<Stream>().swap(streams_);
    std::vector<Thread>().swap(threads_);
    std::vector<OfProcess>().swap(processes_);
  }
  void sort_by_end(std::vector<PathWorkId>& ids) const;
  std::vector<PathSpan> spans_of_steps() const;
  std::vector<PathSpan> span_of_all(const AnalysisWindow& whole) const;

  const AnalysisContext& context_;
  const Catalog& catalog_;
  const Windows& steps_;
  std::map<std::tuple<ProcessId, std::int64_t, std::int64_t>, TrackId> stream_of_;  // by device and number
  HostWaits waits_;
  std::vector<Stream> streams_;  // by TrackId, as the next
  std::vector<Thread> threads_;
  std::vector<OfProcess> processes_;
  std::vector<PathMeeting> meetings_;
  std::size_t kept_ = 0;
  bool knows_launches_ = false;
  std::uint64_t uncompared_ = 0;
};

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
