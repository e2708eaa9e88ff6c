// Computes when one device is busy, as intervals, from its work sorted by start. Tables sum up these intervals and
// exports show them.
//
//   gap      nothing runs between two pieces of work; work of zero length splits it
//   ran      time that work adds to the union of its class
//   exposed  communication runs without compute; copies and memsets do not hide it
//
// No work starts between two successive starts, so each union lasts until its latest end so far. That end is all the
// state needed.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "cli/timeline/gpu/work_classes.h"

namespace cli {

// `Out` has gap(from_ns, to_ns), busy(start_ns, until_ns), ran(work_class, from_ns, to_ns) and exposed(from_ns, to_ns).
// Each is called in order of time, as soon as the interval is known, once per contiguous interval. busy() is called for
// every piece of work: the device is busy from start_ns until until_ns at least.
class GpuIntervals {
 public:
  // Adds work with start_ns <= end_ns, by start_ns ascending.
  template <typename Out>
  void add(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns, Out& out) {
    if (busy_end_ns_ == kNever) first_ns_ = start_ns;
    if (busy_end_ns_ != kNever && start_ns > busy_end_ns_) out.gap(busy_end_ns_, start_ns);
    busy_end_ns_ = std::max(busy_end_ns_, end_ns);
    out.busy(start_ns, busy_end_ns_);
    if (work_class != WorkClass::memory) expose(start_ns, out);
    std::int64_t& class_end_ns = end_of(work_class);
    const std::int64_t from_ns = std::max(start_ns, class_end_ns);
    if (from_ns >= end_ns) return;
    class_end_ns = end_ns;
    out.ran(work_class, from_ns, end_ns);
  }

  // Ends all current intervals at `at_ns` and continues them as new ones. `at_ns` is not before the start of any work
  // so far. If the device is idle, the time up to `at_ns` is reported as a gap even if no work follows.
  template <typename Out>
  void cut(std::int64_t at_ns, Out& out) {
    if (busy_end_ns_ != kNever && at_ns > busy_end_ns_) {
      out.gap(busy_end_ns_, at_ns);
      busy_end_ns_ = at_ns;
    }
    expose(at_ns, out);
    give_exposed(out);
  }

  // Reports the remaining intervals. Called after the last work.
  template <typename Out>
  void finish(Out& out) {
    expose(std::numeric_limits<std::int64_t>::max(), out);
    give_exposed(out);
  }

  // Returns the time from the first start to the last end; 0 if there was no work.
  std::int64_t span_ns() const { return busy_end_ns_ == kNever ? 0 : busy_end_ns_ - first_ns_; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  std::int64_t& end_of(WorkClass work_class) { return ends_ns_[static_cast<std::size_t>(work_class)]; }

  template <typename Out>
  void expose(std::int64_t to_ns, Out& out) {
    const std::int64_t from = std::max(now_ns_, end_of(WorkClass::compute)),
                       to = std::min(end_of(WorkClass::comm), to_ns);
    now_ns_ = to_ns;
    if (from >= to) return;
    if (from != exposed_to_ns_) give_exposed(out), exposed_from_ns_ = from;
    exposed_to_ns_ = to;
  }
  template <typename Out>
  void give_exposed(Out& out) {
    if (exposed_from_ns_ < exposed_to_ns_) out.exposed(exposed_from_ns_, exposed_to_ns_);
    exposed_from_ns_ = exposed_to_ns_;
  }

  std::array<std::int64_t, 3> ends_ns_{kNever, kNever, kNever};  // by WorkClass
  std::int64_t first_ns_ = 0, busy_end_ns_ = kNever;
  std::int64_t now_ns_ = kNever;  // exposed time before this moment is known
  // The newest interval, not reported yet because it may continue
  std::int64_t exposed_from_ns_ = 0, exposed_to_ns_ = 0;
};

// Sums of values over time: collectives (1 each) or copies (their rates). Memory: what runs at one moment.

// Calls `changed(ns, sum)` when the sum changes, in order of time. If it is called several times for one moment, the
// last sum counts.
class RunningSum {
 public:
  // Adds `amount` for [start, end). Calls have to be sorted by start. Intervals of zero length add nothing.
  template <typename Changed>
  void add(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t amount, Changed&& changed) {
    if (end_ns <= start_ns || amount == 0) return;
    advance(start_ns, changed);
    ends_.push({end_ns, amount});
    sum_ += amount;
    changed(start_ns, sum_);
  }
  // Reports the changes up to `now_ns`, before which nothing starts any more.
  template <typename Changed>
  void advance(std::int64_t now_ns, Changed&& changed) {
    for (; !ends_.empty() && ends_.top().first <= now_ns; ends_.pop()) {
      sum_ -= ends_.top().second;
      changed(ends_.top().first, sum_);
    }
  }

 private:
  using End = std::pair<std::int64_t, std::uint64_t>;  // time, amount
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t sum_ = 0;
};

// Copy throughput of a device: bytes / duration of each copy while it runs, summed per direction.

// Returns at least 1 if anything was copied. `ns` > 0.
inline std::uint64_t bytes_per_second(std::uint64_t bytes, std::int64_t ns) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  const auto rate = static_cast<double>(bytes) * 1e9 / static_cast<double>(ns);
  return rate >= static_cast<double>(kMost) ? kMost
                                            : std::max<std::uint64_t>(bytes > 0, static_cast<std::uint64_t>(rate));
}

// Calls `changed(direction, ns, bytes_per_s)` as RunningSum does.
class CopyRates {
 public:
  // Host to device, device to host, within the device, from another device
  static constexpr std::size_t kDirections = 4;

  // Adds a copy that counts until `end_ns`. Calls have to be sorted by start. A copy without a duration has no rate.
  template <typename Changed>
  void add(std::size_t direction, std::int64_t start_ns, std::int64_t end_ns, std::int64_t duration_ns,
           std::uint64_t bytes, Changed&& changed) {
    if (duration_ns <= 0) return;
    sums_[direction].add(start_ns, end_ns, bytes_per_second(bytes, duration_ns),
                         [&](std::int64_t ns, std::uint64_t rate) { changed(direction, ns, rate); });
  }
  // Reports the changes of one direction up to `now_ns`, before which no copy starts any more.
  template <typename Changed>
  void advance(std::size_t direction, std::int64_t now_ns, Changed&& changed) {
    sums_[direction].advance(now_ns, [&](std::int64_t ns, std::uint64_t rate) { changed(direction, ns, rate); });
  }

 private:
  std::array<RunningSum, kDirections> sums_;
};

}  // namespace cli
