// Medians and lines that a few wrong values do not move.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace cli {

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

}  // namespace cli
