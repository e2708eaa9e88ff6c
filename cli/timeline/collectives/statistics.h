// Statistics that are robust to outliers, and a test whether chance explains an order.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace cli {

// Robust medians and lines.

// Returns a quantile of `values`, whose order it changes; 0 if there are none.
inline double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(static_cast<double>(values.size()) * share));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

// Returns the median and the median absolute deviation. Afterwards `values` contains the absolute deviations.
inline std::pair<double, double> spread(std::vector<double>& values) {
  const double middle = quantile(values, 0.5);
  for (double& value : values) value = std::abs(value - middle);
  return {middle, quantile(values, 0.5)};
}

struct RobustLine {
  double offset = 0, slope = 0;  // offset is the value at 0
  double mad = 0;                // median absolute deviation from the line
  double value(double at) const { return offset + slope * at; }
};

// Fits a line; `at` has to be ascending. The slope is the median of the slopes between points half of all points apart.
// It is 0 if that slope exceeds `most_slope` or does not reduce the deviation.
inline RobustLine robust_line(const std::vector<double>& at, const std::vector<double>& values, double most_slope) {
  RobustLine line;
  std::vector<double> rest = values;
  std::tie(line.offset, line.mad) = spread(rest);
  if (most_slope <= 0) return line;
  const std::size_t half = at.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i + half < at.size(); ++i) {
    if (at[i + half] > at[i]) slopes.push_back((values[i + half] - values[i]) / (at[i + half] - at[i]));
  }
  RobustLine other;
  other.slope = quantile(slopes, 0.5);
  if (std::abs(other.slope) > most_slope) return line;
  for (std::size_t i = 0; i < at.size(); ++i) rest[i] = values[i] - other.slope * at[i];
  std::tie(other.offset, other.mad) = spread(rest);
  return other.mad < line.mad ? other : line;
}

// Tests how often chance alone makes the same ranks last.
//
// Null model: every rank is late equally often. In a meeting (a collective in which all wait for the last rank) the
// ranks may be exchanged, while the starts stay the same. The cost of a set of ranks in a meeting is the time from the
// last start of the other ranks to the last start of the set. The test bounds the probability that the costs of a set
// of this size add up to the observed sum. It uses Chernoff's bound, which holds for any distribution of the starts, so
// one huge delay is one draw, however large it is. Meetings of one block may share one delay; the bound holds for any
// dependence between them (Hoelder's inequality). If the set is late in consecutive blocks more often than expected, a
// delay is assumed to last for up to two blocks.
class ExchangeTest {
 public:
  // A cost above `most_ns` counts as `most_ns`.
  explicit ExchangeTest(std::int64_t most_ns) : most_ns_(most_ns) {}

  // Adds a meeting of at least two ranks, `chosen` of them in the set, which cost `cost_ns`. `starts_ns` is descending.
  // Meetings of a block have to be consecutive.
  void add(const std::vector<std::int64_t>& starts_ns, std::size_t chosen, std::int64_t cost_ns, bool ends_block);
  void end_block();

  // Returns true if the natural logarithm of the probability is at most `log_limit`.
  bool is_beyond(double log_limit) const;

 private:
  // A cost of a meeting and its probability; the cost is scaled up by the meeting's share of its block.
  struct Outcome {
    double log_probability, cost_ns;
  };
  struct Meeting {
    std::size_t first = 0, count = 0;  // in outcomes_
    double share = 1;                  // of the meeting in its block
  };

  double log_bound(double per_ns) const;
  double meetings_of_a_delay() const;

  std::int64_t most_ns_;
  std::vector<Outcome> outcomes_;
  std::vector<Meeting> meetings_;
  std::size_t block_ = 0;  // first meeting of the current block
  double block_cost_ns_ = 0, cost_ns_ = 0;
  // The largest possible cost of a block, and its observed cost.
  struct BlockCost {
    double most_ns, cost_ns;
  };
  std::vector<BlockCost> blocks_;
};

}  // namespace cli
