// Aligns two sequences with the fewest removals from one and additions from the other (Myers, An O(ND) difference
// algorithm, 1986). Time: length x differences; memory: differences squared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cli::comparison {

// Consecutive elements of `a` that are replaced by consecutive elements of `b`. One of the counts may be 0.
struct SequenceChange {
  std::size_t at_a = 0, count_a = 0;
  std::size_t at_b = 0, count_b = 0;
  bool operator==(const SequenceChange&) const = default;
};

inline constexpr std::size_t kMostDifferences = 3000;

// Returns the changes in order. Empty if there are more than `most` differences.
std::optional<std::vector<SequenceChange>> align_sequences(std::span<const std::uint32_t> a,
                                                           std::span<const std::uint32_t> b,
                                                           std::size_t most = kMostDifferences);

}  // namespace cli::comparison
