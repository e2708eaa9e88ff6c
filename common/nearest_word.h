// Finds the known word that is closest to a misspelled word.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace trace {

// Returns the edit distance of the words: insertions, deletions, replacements and swaps of neighbours (optimal string
// alignment). Words longer than 47 bytes differ in all bytes. Allocates nothing.
inline std::size_t word_distance(std::string_view a, std::string_view b) noexcept {
  constexpr std::size_t kMost = 48;
  if (a.size() >= kMost || b.size() >= kMost) return std::max(a.size(), b.size());
  std::array<std::array<std::size_t, kMost>, 3> rows{};  // the last three rows of the matrix, in rotation
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto &row = rows[i % 3], &last = rows[(i - 1) % 3], &before_last = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

// Returns the closest word of `known`, or "" if none is close: at most one error per three bytes.
template <typename Words>
std::string_view nearest_word(std::string_view word, const Words& known) noexcept {
  std::string_view best;
  std::size_t least = word.size() / 3 + 1;
  for (const auto& each : known) {
    const std::size_t apart = word_distance(word, each);
    if (apart >= least) continue;
    best = each;
    least = apart;
  }
  return best;
}

}  // namespace trace
