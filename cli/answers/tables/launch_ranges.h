// Joins GPU work to host ranges, for the tables of operators and ranges: finds the ranges that were open on the calling
// thread when the call that launched the work began.
//
// Ranges and calls arrive in time order. Ranges that start together with a call contain it, whichever came first. The
// data of a launching call is kept as long as the walk keeps the call (AnalysisContext::calls).
#pragma once
#include "cli/answers/tables/analysis.h"
#include "cli/trace/event_times.h"

namespace cli {

// The open slices of a thread, in a vector sorted by start. Most slices are nested, so the last one usually ends first.
// But programs also leave ranges open, and NVTX ranges may overlap. A search examines only the slices that began after
// the one that it finds.
//
// `Slice` has end_ns (kLatest_ns if it never ends). These functions set its first_end_ns and last_end_ns: the earliest
// and the latest end of this slice and all slices before it.
template <typename Slice>
void note_ends(std::vector<Slice>& open, std::size_t at) {
  Slice& own = open[at];
  own.first_end_ns = at == 0 ? own.end_ns : std::min(own.end_ns, open[at - 1].first_end_ns);
  own.last_end_ns = at == 0 ? own.end_ns : std::max(own.end_ns, open[at - 1].last_end_ns);
}

template <typename Slice>
void add_open(std::vector<Slice>& open, Slice slice) {
  open.push_back(std::move(slice));
  note_ends(open, open.size() - 1);
}

// Removes the slices that end at or before `at_ns`, and calls on_end(slice) for each. Returns the number of slices
// examined.
template <typename Slice, typename OnEnd>
std::size_t drop_ended(std::vector<Slice>& open, std::int64_t at_ns, OnEnd&& on_end) {
  std::size_t first = open.size();
  while (first > 0 && open[first - 1].first_end_ns <= at_ns) --first;
  const std::size_t looked_at = open.size() - first;
  std::size_t kept = first;
  for (; first < open.size(); ++first) {
    if (open[first].end_ns <= at_ns) {
      on_end(open[first]);
      continue;
    }
    if (kept != first) open[kept] = std::move(open[first]);
    note_ends(open, kept++);
  }
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(kept), open.end());
  return looked_at;
}

// `Range` is the data of an open range, `Launcher` the data kept of a call for its GPU work.
template <typename Range, typename Launcher>
class LaunchRanges {
 public:
  struct Open {
    std::int64_t start_ns = 0, end_ns = 0;  // kLatest_ns if the end is unknown
    Range range;
    std::int64_t first_end_ns = 0, last_end_ns = 0;  // set by note_ends()
  };

  // The context must outlive this object.
  explicit LaunchRanges(const AnalysisContext& context)
      : context_(context), threads_(context.catalog.tracks.size()), launchers_(context.catalog.processes.size()) {}

  // Returns the ranges of a thread that are open at this time, by start, and drops all others. Times must not decrease.
  std::vector<Open>& open_at(TrackId thread, std::int64_t at_ns) {
    looked_at_ += drop_ended(threads_[thread], at_ns, [](const Open&) {});
    return threads_[thread];
  }
  // Returns the newest open range that contains [at_ns, end_ns), or null if there is none.
  Range* around(TrackId thread, std::int64_t at_ns, std::int64_t end_ns) {
    std::vector<Open>& open = open_at(thread, at_ns);
    for (auto each = open.rbegin(); each != open.rend() && each->last_end_ns >= end_ns; ++each) {
      ++looked_at_;
      if (each->end_ns >= end_ns) return &each->range;
    }
    return nullptr;
  }
  void open(TrackId thread, Open range) {
    if (threads_[thread].capacity() == 0) used_threads_.push_back(thread);
    add_open(threads_[thread], std::move(range));
  }
  // Returns how many ranges were examined so far. Tests use it to check that the time is linear.
  std::uint64_t looked_at() const { return looked_at_; }

  // Registers a call, from TraceObserver::event(). settle() passes it to `on_call` once all ranges with the same start
  // have arrived.
  void call(const Event& event) {
    const bool may_launch = is_api_call(event.kind) && event.correlation != 0;
    waiting_.push_back({event, may_launch ? context_.calls->newest() : std::nullopt});
  }
  // Call it before each range and call with this start, and with any start before GPU work.
  template <typename OnCall>
  void settle(std::int64_t start_ns, OnCall&& on_call) {
    if (!waiting_.empty() && waiting_.front().event.start_ns != start_ns) settle(on_call);
  }
  template <typename OnCall>
  void settle(OnCall&& on_call) {
    for (const Waiting& each : waiting_) {
      place_ = each.place;
      std::vector<std::optional<Launcher>>& launchers = launchers_[process_of(each.event)];
      if (place_ && *place_ < launchers.size()) launchers[*place_].reset();  // data of the call that had this slot
      on_call(each.event);
    }
    waiting_.clear();
  }

  // Call it from on_call to store what the call launches by. Of nested calls with one correlation the outermost counts.
  void launches(const Event& call, Launcher launcher) {
    if (!place_) return;
    std::vector<std::optional<Launcher>>& launchers = launchers_[process_of(call)];
    if (*place_ >= launchers.size()) launchers.resize(*place_ + std::size_t{1});
    launchers[*place_] = std::move(launcher);
  }
  // Returns the launcher of GPU work, after settle(). Null if the call is unknown or launches() was not called for it.
  Launcher* of(const GpuWork& work) { return work.call == nullptr ? nullptr : at(work.process, work.call_place); }
  Launcher* of(TrackId track, std::uint64_t correlation) {
    const auto place = context_.calls->place_of(track, correlation);
    return place ? at(context_.catalog.tracks[track].process, *place) : nullptr;
  }

  // See TraceObserver::end_of().
  template <typename OnCall>
  void end_of(ProcessId process, OnCall&& on_call) {
    settle(on_call);
    std::vector<std::optional<Launcher>>().swap(launchers_[process]);  // frees the memory, which `= {}` would keep
    std::erase_if(used_threads_, [&](TrackId thread) {
      if (context_.catalog.tracks[thread].process != process) return false;
      std::vector<Open>().swap(threads_[thread]);
      return true;
    });
  }
  void forget_all() {
    for (const TrackId thread : used_threads_) threads_[thread].clear();
    for (auto& launchers : launchers_) launchers.clear();
  }

 private:
  using Place = std::optional<std::uint32_t>;  // slot in AnalysisContext::calls; empty if the call does not count
  struct Waiting {
    Event event;
    Place place;
  };

  ProcessId process_of(const Event& call) const { return context_.catalog.tracks[call.track].process; }
  Launcher* at(ProcessId process, std::uint32_t place) {
    std::vector<std::optional<Launcher>>& launchers = launchers_[process];
    return place < launchers.size() && launchers[place] ? &*launchers[place] : nullptr;
  }

  const AnalysisContext& context_;
  std::vector<std::vector<Open>> threads_;  // by TrackId
  std::vector<TrackId> used_threads_;       // threads with ranges, of processes that have not ended
  std::vector<std::vector<std::optional<Launcher>>> launchers_;  // by process and slot
  std::vector<Waiting> waiting_;                                 // calls with the same start
  Place place_;                                                  // slot of the call that is being passed on
  std::uint64_t looked_at_ = 0;
};

}  // namespace cli
