// What adds up while it runs: collectives (1 each), copies (their rates). Memory: what runs.
#pragma once
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

}  // namespace cli
