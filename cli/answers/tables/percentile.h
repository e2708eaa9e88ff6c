#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cli {

// Returns the smallest value that is not exceeded by at least half of all values; 0 if there are none. Reorders them.
inline std::int64_t median(std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Distribution of values. Each member is one of the values, without interpolation: a percentile is the smallest value
// that is not exceeded by at least that percentage of all values.
struct Spread {
  std::int64_t least, median, p95, most;
};

// Requires at least one value. Reorders them.
inline Spread spread_of(std::vector<std::int64_t>& values) {
  const auto begin = values.begin(), end = values.end();
  const auto percentile = [&](std::size_t percent) {
    return begin + static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1);
  };
  const auto median = percentile(50), p95 = percentile(95);
  std::nth_element(begin, p95, end);
  std::nth_element(begin, median, p95);  // values before p95 are not greater than it
  return {*std::min_element(begin, median + 1), *median, *p95, *std::max_element(p95, end)};
}

// Returns the sample standard deviation (divided by n - 1), like StdDev of Nsight Systems and std() of pandas. Empty
// for fewer than two values.
inline std::optional<double> standard_deviation(const std::vector<std::int64_t>& values) {
  if (values.size() < 2) return std::nullopt;
  __extension__ __int128 sum = 0;
  for (const std::int64_t value : values) sum += value;
  const auto count = static_cast<long double>(values.size());
  const auto whole = static_cast<std::int64_t>(sum / static_cast<std::int64_t>(values.size()));
  // Remainder of the mean
  const long double rest = static_cast<long double>(sum % static_cast<std::int64_t>(values.size())) / count;
  long double squares = 0;
  for (const std::int64_t value : values) {
    const long double distance = static_cast<long double>(value) - static_cast<long double>(whole) - rest;
    squares += distance * distance;
  }
  return static_cast<double>(std::sqrt(squares / (count - 1)));
}

}  // namespace cli
