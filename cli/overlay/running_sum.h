// A counter that adds up what runs at a time: collectives (1 each), copies (their rates). Whole numbers inside, so that
// nothing is left over when all has ended. Memory: what runs.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "cli/overlay/counter_row.h"

namespace cli {

class RunningSum {
 public:
  // A value is the sum divided by `unit`.
  RunningSum(RowOut out, DerivedRow row, double unit) : row_(out, row), unit_(unit) {}

  // [start, end), by start. What has no length adds nothing.
  void add(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t amount) {
    if (end_ns <= start_ns || amount == 0) return;
    advance(start_ns);
    ends_.push({end_ns, amount});
    sum_ += amount;
    row_.set(start_ns, static_cast<double>(sum_) / unit_);
  }
  void cut(std::int64_t at_ns) { advance(at_ns), row_.cut(at_ns); }
  void finish() { advance(std::numeric_limits<std::int64_t>::max()), row_.finish(); }

 private:
  void advance(std::int64_t now_ns) {
    for (; !ends_.empty() && ends_.top().first <= now_ns; ends_.pop()) {
      sum_ -= ends_.top().second;
      row_.set(ends_.top().first, static_cast<double>(sum_) / unit_);
    }
  }

  using End = std::pair<std::int64_t, std::uint64_t>;  // when, of how much
  CounterRow row_;
  double unit_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t sum_ = 0;
};

}  // namespace cli
