// The slices of a thread that are open, by their start, in a vector. Slices of a thread lie within each other mostly, so the last one ends first;
// but programs also leave ranges open for good, and NVTX has ranges that overlap. Finding those that ended, or one that holds another, takes
// time for slices that began later than it alone.
//
// `Slice` has end_ns (kLatest_ns: never), and first_end_ns and last_end_ns: of it and all before it, which are set here.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cli {

template <typename Slice>
void note_ends(std::vector<Slice>& open, std::size_t at) {
  Slice& own = open[at];
  own.first_end_ns = at == 0 ? own.end_ns : std::min(own.end_ns, open[at - 1].first_end_ns);
  own.last_end_ns = at == 0 ? own.end_ns : std::max(own.end_ns, open[at - 1].last_end_ns);
}

template <typename Slice>
void add_open(std::vector<Slice>& open, Slice slice) {
  open.push_back(std::move(slice));
  note_ends(open, open.size() - 1);
}

// Calls on_end(slice) for each that has ended and removes it. Returns how many slices it looked at.
template <typename Slice, typename OnEnd>
std::size_t drop_ended(std::vector<Slice>& open, std::int64_t at_ns, OnEnd&& on_end) {
  std::size_t first = open.size();
  while (first > 0 && open[first - 1].first_end_ns <= at_ns) --first;
  const std::size_t looked_at = open.size() - first;
  std::size_t kept = first;
  for (; first < open.size(); ++first) {
    if (open[first].end_ns <= at_ns) {
      on_end(open[first]);
      continue;
    }
    if (kept != first) open[kept] = std::move(open[first]);
    note_ends(open, kept++);
  }
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(kept), open.end());
  return looked_at;
}

}  // namespace cli
