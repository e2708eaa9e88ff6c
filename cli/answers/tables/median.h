#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

// The smallest value that at least half of all do not exceed. Reorders them; of none 0.
inline std::int64_t median(std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace cli
