#include "cli/answers/compare/align_sequences.h"

#include <algorithm>

namespace cli::comparison {
namespace {

using KernelSequence = std::span<const std::uint32_t>;
using SequencePosition = std::ptrdiff_t;

// The furthest position in `a` on each diagonal (position in a - position in b) with a given number of differences;
// index: diagonal + differences.
using DiagonalReach = std::vector<SequencePosition>;

// Computes the reach of the diagonals for 0, 1, 2, ... differences until both ends are reached.
class ReachSearch {
 public:
  ReachSearch(KernelSequence a, KernelSequence b) : a_(a), b_(b) {}

  bool run(std::size_t most) {
    for (std::size_t differences = 0; differences <= most; ++differences) {
      if (step(static_cast<SequencePosition>(differences))) return true;
    }
    return false;
  }

  // Walks from the end to the begin. Calls on_edit with the positions in both sequences at which an element is removed
  // (a) or added (b).
  template <typename OnEdit>
  void trace_back(const OnEdit& edit) const {
    SequencePosition x = size(a_), y = size(b_);
    for (SequencePosition d = static_cast<SequencePosition>(reached_.size()) - 1; d > 0; --d) {
      const SequencePosition k = x - y;
      const SequencePosition before = adds(d, k) ? k + 1 : k - 1;
      const SequencePosition old_x = at(d - 1, before), old_y = old_x - before;
      edit(old_x, old_y, adds(d, k));
      x = old_x;
      y = old_y;
    }
  }

 private:
  static SequencePosition size(KernelSequence elements) { return static_cast<SequencePosition>(elements.size()); }
  SequencePosition at(SequencePosition d, SequencePosition k) const {
    return reached_[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)];
  }
  // Returns true if the last difference on this diagonal is an addition.
  bool adds(SequencePosition d, SequencePosition k) const {
    return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1));
  }

  bool step(SequencePosition d) {
    DiagonalReach& reach = reached_.emplace_back(static_cast<std::size_t>(2 * d + 1), SequencePosition{0});
    for (SequencePosition k = -d; k <= d; k += 2) {
      SequencePosition x = d == 0 ? 0 : adds(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      while (x < size(a_) && x - k < size(b_) && x >= 0 && x - k >= 0 &&
             a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)])
        ++x;
      reach[static_cast<std::size_t>(k + d)] = x;
      if (x >= size(a_) && x - k >= size(b_)) return true;
    }
    return false;
  }

  KernelSequence a_, b_;
  std::vector<DiagonalReach> reached_;  // by number of differences
};

}  // namespace

std::optional<std::vector<SequenceChange>> align_sequences(KernelSequence a, KernelSequence b, std::size_t most) {
  std::size_t same_begin = 0, same_end = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (same_begin < shorter && a[same_begin] == b[same_begin]) ++same_begin;
  while (same_end < shorter - same_begin && a[a.size() - 1 - same_end] == b[b.size() - 1 - same_end]) ++same_end;
  const KernelSequence middle_a = a.subspan(same_begin, a.size() - same_begin - same_end),
                       middle_b = b.subspan(same_begin, b.size() - same_begin - same_end);
  ReachSearch search(middle_a, middle_b);
  if (!search.run(most)) return std::nullopt;
  std::vector<SequenceChange> changes;  // in reverse order
  search.trace_back([&](SequencePosition x, SequencePosition y, bool added) {
    const std::size_t at_a = same_begin + static_cast<std::size_t>(x), at_b = same_begin + static_cast<std::size_t>(y);
    const std::size_t of_a = added ? 0 : 1, of_b = added ? 1 : 0;
    if (changes.empty() || changes.back().at_a != at_a + of_a || changes.back().at_b != at_b + of_b)
      changes.push_back({at_a + of_a, 0, at_b + of_b, 0});
    SequenceChange& change = changes.back();
    change = {at_a, change.count_a + of_a, at_b, change.count_b + of_b};
  });
  std::reverse(changes.begin(), changes.end());
  return changes;
}

}  // namespace cli::comparison
