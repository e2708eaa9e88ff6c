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
#include <functional>
#include <tuple>

#include "cli/answers/tables/device_gaps.h"

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
  static constexpr std::string_view kStreamWait = "Stream Wait Event";  // the name in Kineto and in recordings

  // `steps` are the chosen steps of each process (whole_steps.h), in host time. For processes without steps, everything
  // is kept. Both must outlive this object.
  PathTrace(const AnalysisContext& context, const Windows& steps)
      : context_(context),
        catalog_(context.catalog),
        steps_(steps),
        waits_(catalog_),
        streams_(catalog_.tracks.size()),
        threads_(catalog_.tracks.size()),
        processes_(catalog_.processes.size()) {
    for (ProcessId id = 0; id < processes_.size(); ++id) {
      processes_[id].zones.resize(2 * steps_.of(id).size() + 1);
      processes_[id].has_calls = records_calls(catalog_.processes[id]);
    }
    for (TrackId id = 0; id < catalog_.tracks.size(); ++id) {
      const Track& track = catalog_.tracks[id];
      if (track.kind == TrackKind::stream) stream_of_.try_emplace({track.process, track.group, track.id}, id);
    }
  }

  // Receives a runtime or driver call, an operator, an annotation or an NVTX range.
  void host(const Event& event) {
    if (!is_slice(event) || is_full()) return;
    const ProcessId process = catalog_.tracks[event.track].process;
    OfProcess& of = processes_[process];
    if (is_api_call(event.kind)) {
      if (const auto place = event.correlation != 0 ? context_.calls->newest() : std::nullopt) {
        if (*place >= of.calls.size()) of.calls.resize(*place + std::size_t{1});
        of.calls[*place] = launch_call(event);
      }
      if (const auto wait = waits_.of(event)) of.waits.push_back(*wait);
    }
    Thread& thread = threads_[event.track];
    leave(thread, event.start_ns);
    enter(thread, event);
    if (of.zones.size() > 1 && thread.changes.size() >= thread.prune_at) prune(thread, of.zones.front().end_ns);
  }
  // Receives a synchronization of a stream with an event, if the trace contains the call that recorded the event.
  void sync(const Event& event, const Facts& facts) {
    const auto* wait = facts.get<SyncFacts>();
    const Track& track = catalog_.tracks[event.track];
    if (wait == nullptr || !wait->producer_is_known || track.kind != TrackKind::stream ||
        catalog_.strings[event.name] != kStreamWait || is_full())
      return;
    const auto stream = stream_of_.find({track.process, track.group, wait->producer_stream});
    const auto recorded = context_.calls->place_of(event.track, wait->producer_correlation);
    if (stream == stream_of_.end() || !recorded) return;
    streams_[event.track].waits.push_back(
        {event.start_ns, stream->second, processes_[track.process].calls[*recorded].start_ns});
    ++kept_;
  }
  // Ignores the times of `work.call`, because they are not on the common axis.
  void work(const GpuWork& work, std::uint32_t work_class) {
    if (is_full()) return;
    OfProcess& of = processes_[work.process];
    GpuWork placed = work;
    if (work.call != nullptr) placed.call = &of.calls[work.call_place];
    if (placed.call != nullptr) {
      of.launched_ns = placed.call->start_ns;
      knows_launches_ = true;
    } else if (!of.has_calls) {
      of.launched_ns = work.start_ns;
    }
    if (const auto wait = waits_.of(placed)) of.waits.push_back(*wait);
    const std::size_t zone = zone_at(work.process, of.launched_ns), zones = of.zones.size();
    const bool is_behind = zones > 1 && zone + 1 == zones;
    if (is_behind) return;
    PathWork entry{work.start_ns, work.end_ns, 0, 0, std::nullopt, work.name, work_class, of.works++, 0, 0};
    if (placed.call != nullptr) {
      entry.thread = placed.call->track;
      entry.call_start_ns = placed.call->start_ns;
      entry.call_end_ns = placed.call->end_ns;
    }
    Stream& stream = streams_[work.event->track];
    const bool is_before = zones > 1 && zone == 0;
    if (is_before && stream.is_before) {
      if (entry.end_ns >= stream.work.back().end_ns) stream.work.back() = entry;
    } else {
      stream.is_before = is_before && stream.work.empty();
      entry.longest = static_cast<std::uint32_t>(stream.work.size());
      if (!stream.work.empty()) {
        const std::uint32_t longest = stream.work.back().longest;
        if (stream.work[longest].end_ns > entry.end_ns) entry.longest = longest;
      }
      stream.work.push_back(entry);
      ++kept_;
    }
    const PathWorkId id{work.event->track, static_cast<std::uint32_t>(stream.work.size() - 1)};
    Zone& known = of.zones[zone];
    if ((*this)[id].end_ns > known.end_ns) known = {(*this)[id].end_ns, id};
  }
  // Call it after the last event of the process.
  void end_of(ProcessId process) {
    if (is_full()) {  // a full trace is never queried
      std::vector<Stream>().swap(streams_);
      std::vector<Thread>().swap(threads_);
      std::vector<OfProcess>().swap(processes_);
      return;
    }
    std::vector<LaunchCall>().swap(processes_[process].calls);
    waits_.forget(process);
  }
  // Call it once, after the last event.
  void meet(const TraceCollectives& collectives) {
    for (TrackId thread = 0; thread < threads_.size(); ++thread) {
      leave(threads_[thread], kLatest_ns);
      if (!threads_[thread].changes.empty()) processes_[catalog_.tracks[thread].process].threads.push_back(thread);
    }
    for (TrackId stream = 0; stream < streams_.size(); ++stream) {
      for (std::uint32_t at = 0; at < streams_[stream].work.size(); ++at)
        processes_[catalog_.tracks[stream].process].by_end.push_back({stream, at});
    }
    for (OfProcess& of : processes_) {
      sort_by_end(of.by_end);
      std::ranges::sort(of.threads, {}, [&](TrackId thread) { return catalog_.tracks[thread].id; });
      std::ranges::sort(of.waits, {}, [](const HostWait& wait) { return std::pair(wait.end_ns, wait.start_ns); });
    }
    for (const MatchedCollective& collective : collectives.matched.collectives) {
      const CollectiveTimes times = times_of(collectives.matched, collectives.calls, collective);
      if (!times.transfer_ns) continue;
      const auto some = collectives.matched.calls_of(collective);
      const auto comparable = [&](const MatchedCall& each) {
        return collectives.clocks.error_between(some.front().process, each.process).has_value();
      };
      if (!std::all_of(some.begin(), some.end(), comparable)) {
        ++uncompared_;
        continue;
      }
      std::vector<PathWorkId> own;
      PathMeeting meeting{times.last_start_ns, {}};
      std::int64_t last_ns = kEarliest_ns;
      for (const MatchedCall& each : some) {
        const CollectiveCall& call = call_of(collectives.calls, each);
        const std::vector<PathWork>& work = streams_[call.gpu_track].work;
        const auto first = std::ranges::lower_bound(work, call.gpu_start_ns, {}, &PathWork::start_ns);
        for (auto at = first; at != work.end() && at->start_ns <= call.gpu_end_ns && at->end_ns <= call.gpu_end_ns;
             ++at) {
          const PathWorkId id{call.gpu_track, static_cast<std::uint32_t>(at - work.begin())};
          own.push_back(id);
          if (at != first || call.gpu_start_ns <= last_ns) continue;
          last_ns = call.gpu_start_ns;
          meeting.last = id;
        }
      }
      if (last_ns == kEarliest_ns) continue;
      meetings_.push_back(meeting);
      for (const PathWorkId id : own)
        streams_[id.stream].work[id.at].meeting = static_cast<std::uint32_t>(meetings_.size());
    }
  }

  bool is_full() const { return kept_ >= kMost; }
  // Returns the steps that have work, by begin. A step is split if its ranks share no time. If no process has steps,
  // returns one span of all work that runs entirely within `whole`.
  std::vector<PathSpan> spans(const AnalysisWindow& whole) const {
    for (const OfProcess& of : processes_) {
      if (of.zones.size() > 1) return spans_of_steps();
    }
    return span_of_all(whole);
  }

  const PathWork& operator[](PathWorkId id) const { return streams_[id.stream].work[id.at]; }
  ProcessId process_of(PathWorkId id) const { return catalog_.tracks[id.stream].process; }
  // Returns the previous work on its stream: among the work that began earlier, the one that ended last.
  std::optional<PathWorkId> before(PathWorkId id) const {
    if (id.at == 0) return std::nullopt;
    return PathWorkId{id.stream, streams_[id.stream].work[id.at - 1].longest};
  }
  // Returns the last work to end, by this work's start, among the work that its stream waited for by events since its
  // previous launch. (An event completes after all work launched to its stream before it was recorded.)
  std::optional<PathWorkId> awaited_by(PathWorkId id) const {
    const PathWork& work = (*this)[id];
    if (!work.thread) return std::nullopt;
    const std::vector<EventWait>& waits = streams_[id.stream].waits;
    const auto by_call = [](const EventWait& wait, std::int64_t ns) { return wait.called_ns < ns; };
    const PathWork* const older = id.at > 0 ? &streams_[id.stream].work[id.at - 1] : nullptr;
    auto at = std::lower_bound(waits.begin(), waits.end(), work.call_start_ns, by_call);
    std::optional<PathWorkId> found;
    while (at != waits.begin() &&
           (older == nullptr || !older->thread || std::prev(at)->called_ns > older->call_start_ns)) {
      const auto awaited = recorded(*--at);
      if (!awaited || (*this)[*awaited].end_ns > work.start_ns || (*this)[*awaited].order >= work.order) continue;
      if (!found || (*this)[*awaited].end_ns > (*this)[*found].end_ns) found = awaited;
    }
    return found;
  }
  // Returns the work of the process (or of one device of it) that ended last by then; of several, the one that began
  // last. With `older_than`, only work that is before it in the order of starts.
  std::optional<PathWorkId> ended_by(ProcessId process, std::int64_t ns, std::optional<PathWorkId> older_than) const {
    const std::vector<PathWorkId>& by_end = processes_[process].by_end;
    auto at = std::ranges::upper_bound(by_end, ns, {}, [&](PathWorkId id) { return (*this)[id].end_ns; });
    while (at != by_end.begin()) {
      const PathWorkId id = *--at;
      const PathWork& work = (*this)[id];
      const bool fits = older_than ? work.order < (*this)[*older_than].order &&
                                         catalog_.tracks[id.stream].group == catalog_.tracks[older_than->stream].group
                                   : work.start_ns < ns;
      if (fits) return id;
    }
    return std::nullopt;
  }
  // Returns the wait that ended last by this moment among the process's waits that began before it; of several, the
  // shortest.
  const HostWait* wait_by(ProcessId process, std::int64_t ns) const {
    const std::vector<HostWait>& waits = processes_[process].waits;
    auto at = std::ranges::upper_bound(waits, ns, {}, &HostWait::end_ns);
    while (at != waits.begin()) {
      if ((--at)->start_ns < ns) return &*at;
    }
    return nullptr;
  }
  // Returns the newest change before this moment.
  std::optional<HostChange> change_before(TrackId thread, std::int64_t ns) const {
    const std::vector<HostChange>& changes = threads_[thread].changes;
    const auto after = std::ranges::lower_bound(changes, ns, {}, &HostChange::from_ns);
    return after == changes.begin() ? std::nullopt : std::optional(*std::prev(after));
  }
  // Returns the thread that last entered something before this moment and was still in it; of several, the one with the
  // lowest number. Empty if all threads were in nothing.
  std::optional<TrackId> thread_before(ProcessId process, std::int64_t ns) const {
    std::optional<TrackId> found;
    std::int64_t last_ns = kEarliest_ns;
    for (const TrackId thread : processes_[process].threads) {
      const auto change = change_before(thread, ns);
      if (change && change->name != 0 && change->from_ns > last_ns) found = thread, last_ns = change->from_ns;
    }
    return found;
  }
  // Returns the last time before this moment at which any thread of the process entered or left something; kEarliest_ns
  // if none did.
  std::int64_t changed_before(ProcessId process, std::int64_t ns) const {
    std::int64_t last_ns = kEarliest_ns;
    for (const TrackId thread : processes_[process].threads) {
      if (const auto change = change_before(thread, ns)) last_ns = std::max(last_ns, change->from_ns);
    }
    return last_ns;
  }
  const PathMeeting* meeting_of(PathWorkId id) const {
    const std::uint32_t meeting = (*this)[id].meeting;
    return meeting == 0 ? nullptr : &meetings_[meeting - 1];
  }
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

  std::size_t zone_at(ProcessId process, std::int64_t launched_ns) const {
    const auto& steps = steps_.of(process);
    const std::size_t at = steps_.first_after(process, launched_ns);
    return 2 * at + (at < steps.size() && steps[at].from_ns <= launched_ns ? 1 : 0);
  }

  std::optional<PathWorkId> recorded(const EventWait& wait) const {
    const std::vector<PathWork>& work = streams_[wait.recorded_on].work;
    const auto after = std::ranges::lower_bound(work, wait.recorded_ns, {}, [](const PathWork& each) {
      return each.thread ? each.call_start_ns : each.start_ns;
    });
    if (after == work.begin()) return std::nullopt;
    return PathWorkId{wait.recorded_on, work[static_cast<std::size_t>(after - work.begin()) - 1].longest};
  }
  void enter(Thread& thread, const Event& event) {
    if (event.duration_ns < 0) return;  // the time at which the thread left it is unknown
    const Open open{slice_end(event, kLatest_ns), event.name};
    thread.next_end_ns = std::min(thread.next_end_ns, open.end_ns);
    if (!is_api_call(event.kind)) {
      thread.ranges.push_back(open);
    } else if (!thread.call) {
      thread.call = open;
    }
    change(thread, event.start_ns);
  }
  // Leaves the ranges and calls that have ended by now, one after the other.
  void leave(Thread& thread, std::int64_t now_ns) {
    while (thread.next_end_ns <= now_ns) {
      const auto first = std::ranges::min_element(thread.ranges, {}, &Open::end_ns);
      const std::int64_t range_ns = first != thread.ranges.end() ? first->end_ns : kLatest_ns,
                         call_ns = thread.call ? thread.call->end_ns : kLatest_ns;
      const std::int64_t end_ns = thread.next_end_ns = std::min(range_ns, call_ns);
      if (end_ns > now_ns || end_ns == kLatest_ns) return;
      if (call_ns == end_ns) {
        thread.call.reset();
      } else {
        thread.ranges.erase(first);
      }
      change(thread, end_ns);
    }
  }
  void change(Thread& thread, std::int64_t from_ns) {
    const StringId name = thread.call             ? thread.call->name
                          : thread.ranges.empty() ? StringId{0}
                                                  : thread.ranges.back().name;
    const HostChange to{from_ns, name, thread.call.has_value()};
    std::vector<HostChange>& changes = thread.changes;
    const std::size_t before = changes.size();
    if (!changes.empty() && changes.back().from_ns == from_ns) changes.pop_back();
    const bool is_same = !changes.empty() && changes.back().name == to.name && changes.back().is_call == to.is_call;
    if (!is_same) changes.push_back(to);
    kept_ += changes.size();
    kept_ -= before;
  }
  // Removes at least half of the changes, or waits until there are twice as many. Keeps the last change before the time,
  // because it is still in effect.
  void prune(Thread& thread, std::int64_t before_ns) {
    const auto after = std::find_if(thread.changes.begin(), thread.changes.end(),
                                    [&](const HostChange& change) { return change.from_ns > before_ns; });
    const auto kept = after == thread.changes.begin() ? after : std::prev(after);
    kept_ -= static_cast<std::size_t>(kept - thread.changes.begin());
    thread.changes.erase(thread.changes.begin(), kept);
    thread.prune_at = std::max<std::size_t>(1024, 2 * thread.changes.size());
  }
  // Copies the keys next to each other for the comparison.
  void sort_by_end(std::vector<PathWorkId>& ids) const {
    struct Ended {
      std::pair<std::int64_t, std::uint32_t> key;
      PathWorkId id;
    };
    std::vector<Ended> ended;
    ended.reserve(ids.size());
    for (const PathWorkId id : ids) ended.push_back({{(*this)[id].end_ns, (*this)[id].order}, id});
    std::ranges::sort(ended, {}, &Ended::key);
    std::transform(ended.begin(), ended.end(), ids.begin(), [](const Ended& each) { return each.id; });
  }
  std::vector<PathSpan> spans_of_steps() const {
    struct OfRank {
      ProcessId process;
      std::int64_t begin_ns, end_ns;  // of its range and the work launched in it
      std::int64_t before_ns;         // end of the work launched before it
      Zone in;
    };
    // By run, number, and occurrence
    std::map<std::tuple<std::string_view, std::string_view, std::int64_t, std::size_t>, std::vector<OfRank>> steps;
    for (ProcessId id = 0; id < processes_.size(); ++id) {
      const Process& process = catalog_.processes[id];
      const auto& own = steps_.of(id);
      const auto& zones = processes_[id].zones;
      std::map<std::int64_t, std::size_t> times;
      std::int64_t before_ns = kEarliest_ns;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::int64_t number = own[i].step.value_or(0);
        before_ns = std::max(before_ns, zones[2 * i].end_ns);
        const Zone& in = zones[2 * i + 1];
        steps[{process.run_id, process.phase, number, times[number]++}].push_back(
            {id, own[i].from_ns, std::max(own[i].to_ns, in.end_ns), before_ns, in});
        before_ns = std::max(before_ns, in.end_ns);
      }
    }
    std::vector<PathSpan> spans;
    const auto add = [&](std::int64_t number, std::vector<OfRank>::const_iterator first,
                         std::vector<OfRank>::const_iterator end) {
      std::int64_t before_ns = kEarliest_ns;
      const OfRank* last = &*first;
      for (auto rank = first; rank != end; ++rank) {
        before_ns = std::max(before_ns, rank->before_ns);
        if (std::tie(rank->in.end_ns, last->process) > std::tie(last->in.end_ns, rank->process)) last = &*rank;
      }
      const std::int64_t from_ns = before_ns > kEarliest_ns ? before_ns : first->begin_ns;
      if (last->in.end_ns > from_ns) spans.push_back({number, from_ns, last->in.end_ns, last->in.last});
    };
    for (auto& [key, ranks] : steps) {
      std::ranges::stable_sort(ranks, {}, &OfRank::begin_ns);
      // Ranks that share no time are in different steps, even if the steps have the same name.
      auto first = ranks.begin();
      std::int64_t end_ns = first->end_ns;
      for (auto rank = first; rank != ranks.end(); ++rank) {
        if (rank->begin_ns >= end_ns) {
          add(std::get<2>(key), first, rank);
          first = rank;
        }
        end_ns = std::max(end_ns, rank->end_ns);
      }
      add(std::get<2>(key), first, ranks.end());
    }
    std::ranges::sort(spans, {}, [](const PathSpan& span) { return std::pair(span.from_ns, span.to_ns); });
    return spans;
  }
  std::vector<PathSpan> span_of_all(const AnalysisWindow& whole) const {
    std::optional<PathSpan> span;
    for (const OfProcess& of : processes_) {
      for (const PathWorkId id : of.by_end) {
        const PathWork& work = (*this)[id];
        if (work.start_ns < whole.from_ns || work.end_ns > whole.to_ns) continue;
        if (!span) span = PathSpan{std::nullopt, work.start_ns, work.start_ns, id};
        span->from_ns = std::min(span->from_ns, work.start_ns);
        if (work.end_ns > span->to_ns || span->last == id) span->to_ns = work.end_ns, span->last = id;
      }
    }
    if (!span || span->from_ns >= span->to_ns) return {};
    return {*span};
  }

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
  void walk(const PathSpan& span, const std::function<void(const PathSegment&)>& segment) {
    segment_ = &segment;
    begin_ns_ = span.from_ns;
    now_ns_ = span.to_ns;
    work_ = span.last;
    while (now_ns_ > begin_ns_ && work_) in_work();
    hold(PathPart::unexplained, begin_ns_, trace_.process_of(span.last));
  }

  // Returns the number of starts explained by work of another stream without a recorded dependency.
  std::uint64_t inferred() const { return inferred_; }

 private:
  void hold(PathPart part, std::int64_t from_ns, std::optional<ProcessId> process, std::uint32_t work_class = 0,
            StringId name = 0) {
    const std::int64_t to_ns = now_ns_;
    now_ns_ = std::min(now_ns_, std::max(from_ns, begin_ns_));
    if (now_ns_ < to_ns) (*segment_)({now_ns_, to_ns, part, process, work_class, name});
  }
  void in_work() {
    const PathWorkId id = *work_;
    const PathWork& work = trace_[id];
    const PathMeeting* meeting = trace_.meeting_of(id);
    if (meeting == nullptr || meeting->last_start_ns >= now_ns_) {
      hold(PathPart::work, work.start_ns, trace_.process_of(id), work.work_class, work.name);
      return at_start(id);
    }
    hold(PathPart::work, meeting->last_start_ns, std::nullopt, work.work_class, work.name);
    hold(PathPart::unexplained, trace_[meeting->last].start_ns, trace_.process_of(meeting->last));
    at_start(meeting->last);
  }
  void at_start(PathWorkId id) {
    work_.reset();
    if (now_ns_ <= begin_ns_) return;
    const PathWork& work = trace_[id];
    const ProcessId process = trace_.process_of(id);
    const std::int64_t start_ns = now_ns_;
    // A possible cause of the start, and when it was fulfilled.
    struct Reason {
      std::int64_t done_ns = kEarliest_ns;
      std::optional<PathWorkId> work;  // empty for the call
    };
    const std::optional<PathWorkId> before = trace_.before(id);
    Reason reason;
    if (before) reason = {std::min(start_ns, trace_[*before].end_ns), before};
    const bool by_call = work.thread && (!before || trace_[*before].end_ns <= work.call_start_ns);
    if (by_call) reason = {std::min(start_ns, work.call_end_ns), std::nullopt};
    const std::optional<PathWorkId> awaited = trace_.awaited_by(id);
    const bool by_event = awaited && trace_[*awaited].end_ns > reason.done_ns;
    if (by_event) reason = {std::min(start_ns, trace_[*awaited].end_ns), awaited};
    const bool known = by_call || before || by_event;
    if (known && start_ns - reason.done_ns <= kLatency_ns) {
      hold(PathPart::queued, reason.done_ns, process);
    } else {
      const std::optional<PathWorkId> other = trace_.ended_by(process, start_ns, id);
      const bool is_later = other && trace_[*other].end_ns > reason.done_ns;
      if (is_later) reason = {trace_[*other].end_ns, other};
      const bool is_near = is_later && start_ns - reason.done_ns <= kLatency_ns;
      inferred_ += is_near;
      if (!known && !is_later) return;
      hold(is_near ? PathPart::queued : PathPart::unexplained, reason.done_ns, process);
    }
    if (now_ns_ <= begin_ns_) return;
    if (reason.work) {
      work_ = reason.work;
    } else {
      in_call(id);
    }
  }
  void in_call(PathWorkId id) {
    const PathWork& work = trace_[id];
    const auto change = trace_.change_before(*work.thread, work.call_start_ns + 1);
    hold(PathPart::launch, work.call_start_ns, trace_.process_of(id), 0, change ? change->name : 0);
    on_host(*work.thread);
  }
  void on_host(TrackId thread) {
    for (TrackId at = thread; now_ns_ > begin_ns_;) {
      const ProcessId process = trace_.process_of({at, 0});
      const HostWait* wait = trace_.wait_by(process, now_ns_);
      in_calls(at, wait != nullptr ? wait->end_ns : begin_ns_);
      if (wait == nullptr) return;
      const auto awaited = trace_.ended_by(process, wait->end_ns, std::nullopt);
      if (awaited && trace_[*awaited].end_ns > wait->start_ns) {
        hold(PathPart::sync, trace_[*awaited].end_ns, process, 0, wait->name);
        work_ = awaited;
        return;
      }
      hold(PathPart::sync, wait->start_ns, process, 0, wait->name);
      at = wait->track;
    }
  }
  // Adds the host's own time, by what it was in.
  void in_calls(TrackId thread, std::int64_t from_ns) {
    const ProcessId process = trace_.process_of({thread, 0});
    const std::int64_t until_ns = std::max(from_ns, begin_ns_);
    while (now_ns_ > until_ns) {
      const auto change = trace_.change_before(thread, now_ns_);
      const bool is_in = change && change->name != 0;
      if (is_in) {
        const bool launches = change->is_call && names_[change->name].launches;
        hold(launches ? PathPart::launch : PathPart::host, std::max(change->from_ns, until_ns), process, 0,
             change->name);
      } else if (const auto other = trace_.thread_before(process, now_ns_)) {
        thread = *other;
      } else {
        hold(PathPart::host, std::max(trace_.changed_before(process, now_ns_), until_ns), process);
      }
    }
  }

  const PathTrace& trace_;
  NameClasses names_;
  const std::function<void(const PathSegment&)>* segment_ = nullptr;
  std::int64_t begin_ns_ = 0, now_ns_ = 0;  // begin of the step; segments after now_ns_ have been passed on
  std::optional<PathWorkId> work_;          // on the path before now_ns_; empty if unknown or at the begin
  std::uint64_t inferred_ = 0;
};

}  // namespace cli
