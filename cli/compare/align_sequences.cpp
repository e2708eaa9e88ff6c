#include "cli/compare/align_sequences.h"

#include <algorithm>

namespace cli {
namespace {

using Elements = std::span<const std::uint32_t>;
using Position = std::ptrdiff_t;

// How far in `a` each diagonal (position in a - position in b) gets with so many differences; by diagonal + differences.
using Reach = std::vector<Position>;

// The diagonals' reach, of 0 differences and more, until both ends are reached.
class Search {
 public:
  Search(Elements a, Elements b) : a_(a), b_(b) {}

  bool run(std::size_t most) {
    for (std::size_t differences = 0; differences <= most; ++differences) {
      if (step(static_cast<Position>(differences))) return true;
    }
    return false;
  }

  // From the end to the begin, as positions in both at which something is removed (a) or added (b).
  template <typename OnEdit>
  void trace_back(const OnEdit& edit) const {
    Position x = size(a_), y = size(b_);
    for (Position d = static_cast<Position>(reached_.size()) - 1; d > 0; --d) {
      const Position k = x - y;
      const Position before = adds(d, k) ? k + 1 : k - 1;
      const Position old_x = at(d - 1, before), old_y = old_x - before;
      edit(old_x, old_y, adds(d, k));
      x = old_x;
      y = old_y;
    }
  }

 private:
  static Position size(Elements elements) { return static_cast<Position>(elements.size()); }
  Position at(Position d, Position k) const { return reached_[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)]; }
  // Whether the last difference on this diagonal is one that is added.
  bool adds(Position d, Position k) const { return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1)); }

  bool step(Position d) {
    Reach& reach = reached_.emplace_back(static_cast<std::size_t>(2 * d + 1), Position{0});
    for (Position k = -d; k <= d; k += 2) {
      Position x = d == 0 ? 0 : adds(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      while (x < size(a_) && x - k < size(b_) && x >= 0 && x - k >= 0 && a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)]) ++x;
      reach[static_cast<std::size_t>(k + d)] = x;
      if (x >= size(a_) && x - k >= size(b_)) return true;
    }
    return false;
  }

  Elements a_, b_;
  std::vector<Reach> reached_;  // by differences
};

}  // namespace

std::optional<std::vector<SequenceChange>> align_sequences(Elements a, Elements b, std::size_t most) {
  std::size_t same_begin = 0, same_end = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (same_begin < shorter && a[same_begin] == b[same_begin]) ++same_begin;
  while (same_end < shorter - same_begin && a[a.size() - 1 - same_end] == b[b.size() - 1 - same_end]) ++same_end;
  const Elements middle_a = a.subspan(same_begin, a.size() - same_begin - same_end), middle_b = b.subspan(same_begin, b.size() - same_begin - same_end);
  Search search(middle_a, middle_b);
  if (!search.run(most)) return std::nullopt;
  std::vector<SequenceChange> changes;  // the last first
  search.trace_back([&](Position x, Position y, bool added) {
    const std::size_t at_a = same_begin + static_cast<std::size_t>(x), at_b = same_begin + static_cast<std::size_t>(y);
    const std::size_t of_a = added ? 0 : 1, of_b = added ? 1 : 0;
    if (changes.empty() || changes.back().at_a != at_a + of_a || changes.back().at_b != at_b + of_b) changes.push_back({at_a + of_a, 0, at_b + of_b, 0});
    SequenceChange& change = changes.back();
    change = {at_a, change.count_a + of_a, at_b, change.count_b + of_b};
  });
  std::reverse(changes.begin(), changes.end());
  return changes;
}

}  // namespace cli
