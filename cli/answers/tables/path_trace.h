// What the critical path is found in (path_walk.h): of chosen ranks the work of the GPUs, what the threads of the host were in, their
// waits, and where ranks met in collectives. It is told the trace once, in the order of time.
//
// Memory: 72 bytes for each piece of GPU work of the chosen steps (of the whole trace where it has none), 32 for each call and range
// from the first of them on (a rank's path may be held by what its host did behind its own step), and 24 for each call that launch_calls.h
// keeps. What was launched before the first of these steps is forgotten but for the work of
// each stream that ended last; what was launched behind the last is not taken. When kMost pieces of work and changes of what a
// thread was in are kept, is_full() holds, and nothing more is taken.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/windows.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/event_times.h"

namespace cli {

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

}  // namespace cli
