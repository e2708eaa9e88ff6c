// The open slices of a thread, sorted by start, in a vector. Most slices are nested, so the last one ends first. But programs also leave ranges
// open, and NVTX ranges may overlap. A search examines only the slices that began after the one it finds.
//
// `Slice` has end_ns (kLatest_ns if it never ends). These functions set its first_end_ns and last_end_ns: the earliest and latest end of this slice
// and all slices before it.
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

// Removes the slices that ended until `at_ns`, and calls on_end(slice) for each. Returns how many slices it examined.
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
