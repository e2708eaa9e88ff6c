// Tells what a host thread was doing at a recent time: the operators, ranges, CUDA calls, garbage collections and Python functions that it was in.
// Memory: kMost ranges and kMost functions a thread, those of them that are longer than the rest, and those that load data.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis.h"

namespace cli {

// A range in which a program waits for its data: of PyTorch's DataLoader, or as people call it ("data_loading", "get_batch").
bool is_data_loading_name(std::string_view range);

class HostActivity {
 public:
  // A GPU has some thousand launches before it at most; an operator of PyTorch has some 8 ranges around its launch, so these suffice for twice as many.
  static constexpr std::size_t kMost = 16'384;

  explicit HostActivity(const Catalog& catalog) : catalog_(catalog), threads_(catalog.tracks.size()), loads_data_(catalog.strings.size()) {}

  // That it has to be told.
  static KindSet kinds();
  void event(const Event& event);
  // Frees the process's data. Do not query the process afterwards.
  void end_of(ProcessId process) {
    std::erase_if(known_threads_, [&](TrackId thread) {
      if (catalog_.tracks[thread].process != process) return false;
      threads_[thread].reset();
      return true;
    });
  }

  // The outermost and the innermost, steps aside: "in aten::item, in cudaMemcpyAsync", "in cudaMalloc", "outside of all operators", or "host
  // state unknown": of this thread no operators or ranges are in the trace, or those of `ns` are forgotten. The innermost function of Python is
  // added if it began in the innermost range; of a time with `ns` in its middle the innermost one that took half of it. What begins at `ns` is not in it.
  std::string text(TrackId thread, std::int64_t ns, std::int64_t around_ns = 0) const;
  // How much of [from_ns, to_ns) the thread loaded data.
  std::int64_t loading_ns(TrackId thread, std::int64_t from_ns, std::int64_t to_ns) const;
  // Calls on_part(start, end) with the parts of [from_ns, to_ns) in which it did, by start and apart from each other.
  template <typename OnPart>
  void each_loading(TrackId thread, std::int64_t from_ns, std::int64_t to_ns, OnPart&& on_part) const {
    if (!is_known(thread)) return;
    const std::deque<Range>& loads = threads_[thread]->loads;
    std::int64_t known_to_ns = from_ns;
    const auto after = std::partition_point(loads.begin(), loads.end(), [&](const Range& range) { return range.last_end_ns <= from_ns; });
    for (auto range = after; range != loads.end() && range->start_ns < to_ns; ++range) {
      const std::int64_t start_ns = std::max(range->start_ns, known_to_ns), end_ns = std::min(range->end_ns, to_ns);
      if (start_ns >= end_ns) continue;
      on_part(start_ns, end_ns);
      known_to_ns = end_ns;
    }
  }
  // Returns how many long ranges of a thread were examined so far. Tests use it to check that the time is linear.
  std::uint64_t looked_at(TrackId thread) const { return is_known(thread) ? threads_[thread]->ranges.looked_at : 0; }
  // The newest range in which it did.
  std::optional<StringId> loading(TrackId thread) const;

 private:
  struct Range {
    std::int64_t start_ns, end_ns;
    StringId name;
    std::int64_t first_end_ns = 0, last_end_ns = 0;  // see open_slices.h; only last_end_ns is kept for ranges that load data
  };
  // The newest ranges, by start, and the older ones that had not ended when they became too many.
  struct Newest {
    std::deque<Range> ranges;
    std::vector<Range> longer;
    std::uint64_t looked_at = 0;  // how many ranges of `longer` were examined
    std::int64_t forgotten_to_ns = kEarliest_ns;  // ranges before this time may be missing

    void add(const Range& range);
    // Calls each(range) with those that hold the moment, by start.
    template <typename Each>
    void each_at(std::int64_t ns, Each&& each) const {
      const auto holds = [&](const Range& range) { return range.start_ns < ns && ns < range.end_ns; };
      for (const Range& range : longer) {
        if (holds(range)) each(range);
      }
      for (const Range& range : ranges) {
        if (range.start_ns >= ns) break;
        if (holds(range)) each(range);
      }
    }
  };
  struct Thread {
    Newest ranges, functions;
    std::deque<Range> loads;
    bool has_operators = false;  // or other ranges, besides calls of CUDA and garbage collections
  };
  bool loads_data(StringId name);
  bool is_known(TrackId thread) const { return thread < threads_.size() && threads_[thread] != nullptr; }

  const Catalog& catalog_;
  std::vector<std::unique_ptr<Thread>> threads_;  // by TrackId; null if it has no events or its process has ended
  std::vector<TrackId> known_threads_;             // the others
  std::vector<std::uint8_t> loads_data_;   // by StringId: 0 not asked, 1 no, 2 yes
};

}  // namespace cli
