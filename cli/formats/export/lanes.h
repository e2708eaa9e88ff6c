// Puts the slices of one track on lanes so that no viewer meets an overlap that it would draw wrongly or drop.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace cli {

enum class LaneRule : std::uint8_t {
  nest,   // host calls: a slice may lie within another, or beside it
  apart,  // GPU work: two kernels at the same time are two lanes, nested or not (PDL, concurrent copies)
};

// Online and greedy: slices come by start ascending, the longer first at equal starts, and take the first lane where
// they fit. A slice ends before the instant `end`; one of zero length covers nothing. Time per slice: O(1) for the
// first kScanned lanes, O(log lanes) beyond them, where the tightest enclosing slice wins. Memory: the open slices.
class Lanes {
 public:
  explicit Lanes(LaneRule rule) : rule_(rule) {}

  // The lane of [start, end); a new one is size() before the call.
  std::size_t place(std::int64_t start, std::int64_t end);
  std::size_t size() const { return lanes_.size(); }

  struct Slice {
    std::size_t lane;
    std::int64_t start, end;
  };
  // The placed slice with start <= time <= end that started last: what a flow at `time` binds to. `time` is not
  // before the last start placed.
  std::optional<Slice> covering(std::int64_t time) const;

 private:
  static constexpr std::size_t kScanned = 8;
  struct Open {
    std::int64_t start, end;
  };
  using Lane = std::vector<Open>;  // outermost first

  bool fits(const Lane& lane, std::int64_t end) const {
    return lane.empty() || (rule_ == LaneRule::nest && lane.back().end >= end);
  }
  std::size_t place_in_crowd(std::int64_t start, std::int64_t end);
  void expire_crowd(std::int64_t start);
  std::size_t choose_in_crowd(std::int64_t end);

  LaneRule rule_;
  std::vector<Lane> lanes_;
  std::set<std::pair<std::int64_t, std::size_t>> busy_;  // lanes from kScanned on: (end of the innermost slice, lane)
  std::set<std::size_t> idle_;
};

}  // namespace cli
