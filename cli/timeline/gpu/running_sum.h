// What adds up while it runs: collectives (1 each), copies (their rates). Memory: what runs.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace cli {

// `changed(ns, sum)` is called where the sum changes, by time; at one moment perhaps several times, the last is what holds.
class RunningSum {
 public:
  // [start, end), by start. What has no length adds nothing.
  template <typename Changed>
  void add(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t amount, Changed&& changed) {
    if (end_ns <= start_ns || amount == 0) return;
    advance(start_ns, changed);
    ends_.push({end_ns, amount});
    sum_ += amount;
    changed(start_ns, sum_);
  }
  // Nothing starts before `now_ns` any more.
  template <typename Changed>
  void advance(std::int64_t now_ns, Changed&& changed) {
    for (; !ends_.empty() && ends_.top().first <= now_ns; ends_.pop()) {
      sum_ -= ends_.top().second;
      changed(ends_.top().first, sum_);
    }
  }

 private:
  using End = std::pair<std::int64_t, std::uint64_t>;  // when, of how much
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t sum_ = 0;
};

// How fast a device copies: bytes / duration of each copy while it runs, added up per direction.

// At least 1 where anything was copied; `ns` > 0.
inline std::uint64_t bytes_per_second(std::uint64_t bytes, std::int64_t ns) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  const auto rate = static_cast<double>(bytes) * 1e9 / static_cast<double>(ns);
  return rate >= static_cast<double>(kMost) ? kMost : std::max<std::uint64_t>(bytes > 0, static_cast<std::uint64_t>(rate));
}

// `changed(direction, ns, bytes_per_s)`, as of RunningSum.
class CopyRates {
 public:
  static constexpr std::size_t kDirections = 4;  // to the device, from it, within it, from another one

  // A copy that is written and counted until `end_ns`, by start. One without a duration has no rate.
  template <typename Changed>
  void add(std::size_t direction, std::int64_t start_ns, std::int64_t end_ns, std::int64_t duration_ns, std::uint64_t bytes,
           Changed&& changed) {
    if (duration_ns <= 0) return;
    sums_[direction].add(start_ns, end_ns, bytes_per_second(bytes, duration_ns),
                         [&](std::int64_t ns, std::uint64_t rate) { changed(direction, ns, rate); });
  }
  // One direction: no copy starts before `now_ns` any more.
  template <typename Changed>
  void advance(std::size_t direction, std::int64_t now_ns, Changed&& changed) {
    sums_[direction].advance(now_ns, [&](std::int64_t ns, std::uint64_t rate) { changed(direction, ns, rate); });
  }

 private:
  std::array<RunningSum, kDirections> sums_;
};

}  // namespace cli
