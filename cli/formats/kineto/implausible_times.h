// Finds events with impossible times: far from all others, or ending long after later work begins.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/event_times.h"

namespace cli::kineto {

// Distribution of a file's events over time, used to exclude wrong times from its span: groups that are more than a day
// from all others and have less than half the events of the largest group, groups that are over 292 years (2^63 ns)
// from it, and ends of events that last longer than a day and end a day after everything else. Memory: an entry for
// each day, up to kMostDays.
class TimeClusters {
 public:
  void add(std::int64_t start_ns, std::int64_t end_ns, bool is_clamped) {
    const bool is_in_day = start_ns >= day_begin_ &&
                           static_cast<std::uint64_t>(start_ns) - static_cast<std::uint64_t>(day_begin_) < kDay_ns;
    if (!is_in_day || day_ == nullptr) find_day(start_ns);
    ++day_->events;
    if (start_ns < day_->first_ns) day_->first_ns = start_ns;
    if (!is_clamped && start_ns < day_->first_unclamped_ns) day_->first_unclamped_ns = start_ns;
    note_end(start_ns, end_ns);
  }
  // Extends an event that was added with an earlier end.
  void extend(std::int64_t start_ns, std::int64_t end_ns) {
    find_day(start_ns);
    note_end(start_ns, end_ns);
  }

  struct Span {
    std::uint64_t events = 0;
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, first_unclamped_ns = INT64_MAX;
  };
  // Returns the span of the plausible events; `events` is their number. Sets `strays` to the number of others.
  Span span(std::uint64_t& strays) const;

 private:
  static constexpr std::uint64_t kDay_ns = 86'400'000'000'000;
  static constexpr std::size_t kMostDays = 4096;

  void find_day(std::int64_t ns);
  void note_end(std::int64_t start_ns, std::int64_t end_ns) {
    const bool is_long = static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(start_ns) > kDay_ns;
    const std::int64_t last_ns = is_long ? start_ns : end_ns;
    if (last_ns > day_->last_ns) day_->last_ns = last_ns;
    if (is_long && long_ends_.size() < kMostDays) long_ends_.push_back(end_ns);
  }

  std::map<std::int64_t, Span> days_;
  Span* day_ = nullptr;
  std::int64_t day_begin_ = 0;
  std::vector<std::int64_t> long_ends_;
};

// Finds work that is recorded to end long after later work on its stream begins (cli/trace/event_times.h). Work is
// added in the order of the file, which is that of its stream. Memory: 40 bytes per track, 24 per overrun.
class StreamOverruns {
 public:
  // Returns true if the end of the event is not known to be plausible yet. settled(start_ns, end_ns) is then called
  // with it, in this or a later call.
  template <typename Settled>
  bool add(const Event& event, Settled&& settled) {
    if (event.track >= waiting_.size()) waiting_.resize(event.track + std::size_t{1});
    Waiting& before = waiting_[event.track];
    if (before.duration_ns != 0) settle(before, event, settled);
    if (event.duration_ns <= kOverrun_ns) return false;
    if (before.duration_ns != 0) settled(before.start_ns, before.start_ns + before.duration_ns);
    before = {event.start_ns, event.duration_ns, event.correlation};
    return true;
  }

  // Settles the remaining events. Returns the overruns, sorted by correlation.
  template <typename Settled>
  std::vector<Overrun> finish(Settled&& settled) {
    for (const Waiting& each : waiting_) {
      if (each.duration_ns != 0) settled(each.start_ns, each.start_ns + each.duration_ns);
    }
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kMost = 1 << 16;
  struct Waiting {
    std::int64_t start_ns = 0, duration_ns = 0;  // duration_ns is 0 if nothing waits
    std::uint64_t correlation = 0;
  };

  // Kernels of one graph may run concurrently and have the same correlation.
  template <typename Settled>
  void settle(Waiting& before, const Event& next, Settled&& settled) {
    const std::int64_t end_ns = before.start_ns + before.duration_ns;
    if (next.start_ns <= before.start_ns || (next.correlation == before.correlation && next.correlation != 0)) return;
    const bool overruns = end_ns - next.start_ns > kOverrun_ns && found_.size() < kMost;
    if (overruns) found_.push_back({before.correlation, before.duration_ns, next.start_ns - before.start_ns});
    settled(before.start_ns, overruns ? next.start_ns : end_ns);
    before = {};
  }

  std::vector<Waiting> waiting_;  // by TrackId
  std::vector<Overrun> found_;
};

}  // namespace cli::kineto
