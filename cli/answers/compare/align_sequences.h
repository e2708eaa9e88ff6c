// Aligns two sequences: the fewest elements that have to be removed from one and added to get the other (Myers, An O(ND)
// difference algorithm, 1986). Time: length x differences; memory: differences squared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cli::comparison {

// Neighbouring elements of `a` that neighbouring ones of `b` take the place of; one of the two may be none.
struct SequenceChange {
  std::size_t at_a = 0, count_a = 0;
  std::size_t at_b = 0, count_b = 0;
  bool operator==(const SequenceChange&) const = default;
};

inline constexpr std::size_t kMostDifferences = 3000;

// In their order. Empty: there are more than `most` differences.
std::optional<std::vector<SequenceChange>> align_sequences(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::size_t most = kMostDifferences);

}  // namespace cli::comparison
