// Statistics that a few wrong values do not move, and how often chance alone explains an order.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace cli {

// Medians and lines that a few wrong values do not move.

// Of `values`, whose order it changes; 0 for none.
inline double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(static_cast<double>(values.size()) * share));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

// The median, and then the median of what they are away from it. `values` is their distances afterwards.
inline std::pair<double, double> spread(std::vector<double>& values) {
  const double middle = quantile(values, 0.5);
  for (double& value : values) value = std::abs(value - middle);
  return {middle, quantile(values, 0.5)};
}

struct RobustLine {
  double offset = 0, slope = 0;  // of value(0)
  double mad = 0;                // of what lies beside it, in the median
  double value(double at) const { return offset + slope * at; }
};

// `at` ascends. The slope is the median of those between points half of all apart, and 0 where they lie no closer to that line, or it is
// more than `most_slope`.
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

// How often chance alone would make the same ranks last.
//
// The null model is a run in which every rank is as often late as any other: in a meeting (a collective in which all wait for the last rank)
// the ranks may be exchanged, while the starts stay as they are. A set of ranks costs a meeting what passes from the last start of the other ranks
// to its own last start. This test bounds the probability that the costs of a set of this size sum up to what was seen (Chernoff's bound:
// it holds for any distribution of the starts, so that one huge delay is one draw, however large it is).
// Meetings of one block may share one delay: the bound holds however they depend on each other (Hoelder's inequality). Where the set is late in
// blocks that follow each other more often than in others, a delay is taken to last for up to two of them.
class ExchangeTest {
 public:
  // A cost above `most_ns` counts as that.
  explicit ExchangeTest(std::int64_t most_ns) : most_ns_(most_ns) {}

  // A meeting of at least two ranks, `chosen` of them in the set, which cost `cost_ns`. `starts_ns`: descending. Meetings of a block follow each other.
  void add(const std::vector<std::int64_t>& starts_ns, std::size_t chosen, std::int64_t cost_ns, bool ends_block);
  void end_block();

  // Whether the natural logarithm of the probability is `log_limit` at most.
  bool is_beyond(double log_limit) const;

 private:
  // With this probability a meeting costs so much; scaled up by the share that the meeting has of its block.
  struct Outcome {
    double log_probability, cost_ns;
  };
  struct Meeting {
    std::size_t first = 0, count = 0;  // in outcomes_
    double share = 1;                  // of its block
  };

  double log_bound(double per_ns) const;
  double meetings_of_a_delay() const;

  std::int64_t most_ns_;
  std::vector<Outcome> outcomes_;
  std::vector<Meeting> meetings_;
  std::size_t block_ = 0;  // the first meeting of the block that has not ended
  double block_cost_ns_ = 0, cost_ns_ = 0;
  // Of blocks: what they may cost, and what they cost of it.
  struct BlockCost {
    double most_ns, cost_ns;
  };
  std::vector<BlockCost> blocks_;
};

}  // namespace cli
