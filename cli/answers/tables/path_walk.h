// The critical path of a step: what limited its progress at each moment. The walk goes back from the step's end, each
// time to what allowed the current piece to begin or continue. The segments are therefore contiguous, and their sum is
// the length of the step.
//
// 1. A step lasts from the end of the last GPU work launched before it to the end of the last GPU work launched in it,
// over all chosen ranks of a run that share some of its time, on the common axis. "Before" means before the step's
// range began on the rank. Work with an unknown launch counts as launched with the work that began before it on the
// rank. If the trace has no calls at all, the start of the work counts as its launch. The walk starts at the work that
// ends the step and stops at the step's begin.
// 2. GPU work is on the path from its start on, with its class and its rank.
// 3. A collective in which every rank depends on all others is on the path only from the last start of its ranks: that
// part is its transfer and belongs to no rank. The walk continues at the start of the last rank. This requires all
// starts and comparable clocks. If the last rank is not chosen, the time since the last start of the chosen ranks is
// unexplained.
// 4. The start s of work is explained by what is known to precede it: the previous work on its stream, if that still
// ran when the call that launched this work began; else this call, from its return on; or the event that its stream
// waited for, if that came later. It explains a start up to kLatency_ns later, and that time is `queued`. Otherwise the
// stream waited for another stream: the last work to end on the device, if at most kLatency_ns earlier. Otherwise the
// cause is unknown, and the time back to the last end of all these is `unexplained`.
// 5. A call that launched work is on the path from its begin to its return or to the work's start: `launch`. The time
// before it belongs to the host, back to the end of the last wait (device_gaps.h) of any thread of the rank: `launch`
// in calls that launch, else `host`. The segment names what the calling thread was in. If that thread was in nothing,
// the thread of the rank that last entered something counts, and so on.
// 6. A wait ends because the last work of the rank to end by then had ended: the time from that end on is `sync`, and
// before it the work is on the path. If that work had ended before the wait began, the host did not wait, and the whole
// call is `sync`.
//
// The walk ends because each segment goes back in time or, if its length is 0, in the order of starts. It looks up only
// what is on the path.
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

// The data from which the critical path is found (path_walk.h), for the chosen ranks: GPU work, what host threads were
// in, their waits, and the collectives in which ranks met. Receives the trace once, in time order.
//
// Memory: 72 bytes per piece of GPU work of the chosen steps (of the whole trace if it has no steps), 32 per call and
// range from the first chosen step on (after its own step, a rank's host may still be on the path), and 24 per call
// that launch_calls.h keeps. Of the work launched before the first chosen step, only the work of each stream that ended
// last is kept. Work launched after the last one is not stored. is_full() is true once kMost pieces of work and host
// changes are stored; then nothing more is added.

// Index into PathTrace.
struct PathWorkId {
  TrackId stream = 0;
  std::uint32_t at = 0;
  bool operator==(const PathWorkId&) const = default;
};

struct PathWork {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t call_start_ns = 0, call_end_ns = 0;  // of the call that launched it, if `thread` is known
  std::optional<TrackId> thread;
  StringId name = 0;
  std::uint32_t work_class = 0;  // as numbered by the user of this class
  std::uint32_t order = 0;       // position among the process's work, by start
  std::uint32_t longest = 0;     // index of the work of its stream that ended last so far
  std::uint32_t meeting = 0;     // index in PathTrace's meetings + 1; 0 if none
};
static_assert(sizeof(PathWork) == 64);

// A collective in which every rank depends on all others. All ranks had begun it at last_start_ns; `last` is the chosen
// rank that began it last.
struct PathMeeting {
  std::int64_t last_start_ns = 0;
  PathWorkId last;
};

// What a host thread was in from a moment until its next change: the outermost CUDA call or, outside of calls, the open
// operator or range that began last.
struct HostChange {
  std::int64_t from_ns = 0;
  StringId name : 31 = 0;  // 0 if the thread was in nothing
  StringId is_call : 1 = false;
};
static_assert(sizeof(HostChange) == 16);

// The time of one critical path: from the end of the work launched before a step to the end of the work launched in it.
struct PathSpan {
  std::optional<std::int64_t> step;
  std::int64_t from_ns = 0, to_ns = 0;
  PathWorkId last;  // ends at to_ns
};

class PathTrace {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 23;

  // `steps` are the chosen steps of each process (whole_steps.h), in host time. For processes without steps, everything
  // is kept. Both must outlive this object.
  PathTrace(const AnalysisContext& context, const Windows& steps);

  // Receives a runtime or driver call, an operator, an annotation or an NVTX range.
  void host(const Event& event);
  // Receives a synchronization of a stream with an event, if the trace contains the call that recorded the event.
  void sync(const Event& event, const Facts& facts);
  // Ignores the times of `work.call`, because they are not on the common axis.
  void work(const GpuWork& work, std::uint32_t work_class);
  // Call it after the last event of the process.
  void end_of(ProcessId process) {
    if (is_full()) return free_all();
    std::vector<LaunchCall>().swap(processes_[process].calls);
    waits_.forget(process);
  }
  // Call it once, after the last event.
  void meet(const TraceCollectives& collectives);

  bool is_full() const { return kept_ >= kMost; }
  // Returns the steps that have work, by begin. A step is split if its ranks share no time. If no process has steps,
  // returns one span of all work that runs entirely within `whole`.
  std::vector<PathSpan> spans(const AnalysisWindow& whole) const;

  const PathWork& operator[](PathWorkId id) const { return streams_[id.stream].work[id.at]; }
  ProcessId process_of(PathWorkId id) const { return catalog_.tracks[id.stream].process; }
  // Returns the previous work on its stream: among the work that began earlier, the one that ended last.
  std::optional<PathWorkId> before(PathWorkId id) const;
  // Returns the last work to end, by this work's start, among the work that its stream waited for by events since its
  // previous launch. (An event completes after all work launched to its stream before it was recorded.)
  std::optional<PathWorkId> awaited_by(PathWorkId id) const;
  // Returns the work of the process (or of one device of it) that ended last by then; of several, the one that began
  // last. With `older_than`, only work that is before it in the order of starts.
  std::optional<PathWorkId> ended_by(ProcessId process, std::int64_t ns, std::optional<PathWorkId> older_than) const;
  // Returns the wait that ended last by this moment among the process's waits that began before it; of several, the
  // shortest.
  const HostWait* wait_by(ProcessId process, std::int64_t ns) const;
  // Returns the newest change before this moment.
  std::optional<HostChange> change_before(TrackId thread, std::int64_t ns) const;
  // Returns the thread that last entered something before this moment and was still in it; of several, the one with the
  // lowest number. Empty if all threads were in nothing.
  std::optional<TrackId> thread_before(ProcessId process, std::int64_t ns) const;
  // Returns the last time before this moment at which any thread of the process entered or left something; kEarliest_ns
  // if none did.
  std::int64_t changed_before(ProcessId process, std::int64_t ns) const;
  const PathMeeting* meeting_of(PathWorkId id) const;
  bool knows_launches() const { return knows_launches_; }
  // Returns the number of collectives that no path follows because their ranks' clocks cannot be compared.
  std::uint64_t uncompared() const { return uncompared_; }

 private:
  struct EventWait {
    std::int64_t called_ns;
    TrackId recorded_on;
    std::int64_t recorded_ns;  // start of the recording call
  };
  struct Stream {
    std::vector<PathWork> work;
    std::vector<EventWait> waits;  // by called_ns
    bool is_before = false;        // its only work was launched before the first step
  };
  struct Open {
    std::int64_t end_ns;
    StringId name;
  };
  struct Thread {
    std::vector<HostChange> changes;
    std::vector<Open> ranges;               // open ranges, by start
    std::optional<Open> call;               // the outermost open call
    std::int64_t next_end_ns = kLatest_ns;  // the earliest end of these
    std::size_t prune_at = 1024;
  };
  // Work of a process launched before, in or between its steps, in this alternating order.
  struct Zone {
    std::int64_t end_ns = kEarliest_ns;  // the last end; of several, the first piece of work with it
    PathWorkId last;
  };
  struct OfProcess {
    std::vector<Zone> zones;  // twice the number of steps + 1
    // The calls of AnalysisContext::calls, by slot, with times on the common axis
    std::vector<LaunchCall> calls;
    bool has_calls = false;                   // in the trace; otherwise the start of work counts as its launch
    std::int64_t launched_ns = kEarliest_ns;  // launch time of the last work with a known call
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
  std::map<std::tuple<ProcessId, std::int64_t, std::int64_t>, TrackId> stream_of_;  // by device and stream number
  HostWaits waits_;
  std::vector<Stream> streams_;  // by TrackId, like the next ones
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
  std::optional<ProcessId> process;  // on the path; empty for all ranks of a collective
  std::uint32_t work_class = 0;      // for work
  StringId name = 0;                 // of the kernel, or of the call, operator or range that the host was in; 0 if none
};

class PathWalk {
 public:
  static constexpr std::int64_t kLatency_ns = 30'000;  // as in device_gaps.h

  // Both must outlive this object. PathTrace::meet() must have been called.
  PathWalk(const PathTrace& trace, const Catalog& catalog) : trace_(trace), names_(catalog.strings) {}

  // Passes the segments of a step to `segment`, the last one first. All have a length.
  void walk(const PathSpan& span, const std::function<void(const PathSegment&)>& segment);

  // Returns the number of starts explained by work of another stream without a recorded dependency.
  std::uint64_t inferred() const { return inferred_; }

 private:
  void hold(PathPart part, std::int64_t from_ns, std::optional<ProcessId> process, std::uint32_t work_class = 0,
            StringId name = 0);
  void in_work();
  void at_start(PathWorkId id);
  void in_call(PathWorkId id);
  void on_host(TrackId thread);
  void in_calls(TrackId thread, std::int64_t from_ns);
  StringId call_name(const PathWork& work) const;

  const PathTrace& trace_;
  NameClasses names_;
  const std::function<void(const PathSegment&)>* segment_ = nullptr;
  std::int64_t begin_ns_ = 0, now_ns_ = 0;  // begin of the step; segments after now_ns_ have been passed on
  std::optional<PathWorkId> work_;          // on the path before now_ns_; empty if unknown or at the begin
  std::uint64_t inferred_ = 0;
};

}  // namespace cli
