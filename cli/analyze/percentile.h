#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

// The smallest value that at least `percent` of all do not exceed: one of them, never between two. Of values there are some.
inline std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace cli
