// Finds work of a stream that is recorded to end far beyond the begin of later work there (model/overruns.h). Work comes in the
// order of the file, which is that of its stream. Memory: 40 bytes a track, 24 each that was found.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/overruns.h"

namespace cli {

class StreamOverruns {
 public:
  // Whether the event's end is to be believed only when settled(start_ns, end_ns) was called for it, which is now or at a later call.
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

  // What is left, and what was found, by correlation.
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
    std::int64_t start_ns = 0, duration_ns = 0;  // 0: nothing waits
    std::uint64_t correlation = 0;
  };

  // Kernels of one graph may run beside each other, and share their correlation.
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

}  // namespace cli
