#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

// How values spread. Each is one of them, never between two: a percentile is the smallest that at least so many percent of all do not
// exceed.
struct Spread {
  std::int64_t least, median, p95, most;
};

// Reorders the values, of which there are some.
inline Spread spread_of(std::vector<std::int64_t>& values) {
  const auto begin = values.begin(), end = values.end();
  const auto percentile = [&](std::size_t percent) { return begin + static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1); };
  const auto median = percentile(50), p95 = percentile(95);
  std::nth_element(begin, p95, end);
  std::nth_element(begin, median, p95);  // what lies before p95 is not above it
  return {*std::min_element(begin, median + 1), *median, *p95, *std::max_element(p95, end)};
}

}  // namespace cli
