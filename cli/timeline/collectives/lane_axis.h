// Calls of several lanes on one time axis, in the sequence of collectives that they are of.
//
// A collective in which every rank depends on all ends at nearly the same moment everywhere, so once the clocks of two lanes are known
// against each other, their calls are paired by their ends. The pairs are the chain, in the order of both lanes, whose ends lie closest
// in sum. A call that one lane lost is skipped there, and costs only itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cli/timeline/collectives/align_lanes.h"
#include "cli/timeline/collectives/call_collector.h"

namespace cli {

// Puts the times of a lane on the axis: t + offset_ns + drift * (t - origin_ns).
struct AxisLine {
  std::int64_t origin_ns = 0;
  std::int64_t offset_ns = 0;
  double drift = 0;

  std::int64_t on_axis(std::int64_t t_ns) const;
  // Since `zero_ns` of the axis.
  double since(std::int64_t t_ns, std::int64_t zero_ns) const {
    return static_cast<double>(t_ns + offset_ns - zero_ns) + drift * static_cast<double>(t_ns - origin_ns);
  }
};

struct AxisLane {
  const CollectiveLane* lane = nullptr;
  AxisLine line;
};

// One call of one lane in a sequence.
struct SequenceCall {
  std::uint32_t lane = 0, call = 0;  // in the lanes that were added, in the lane
  double start_ns = 0, end_ns = 0;   // on the axis
};

struct SequenceEntry {
  double end_ns = 0;                           // the mean of its calls; of calls without times that of their neighbours
  double last_start_ns = 0, first_end_ns = 0;  // of what binds
  WhatId what = 0;
  bool binds = false;
  std::vector<SequenceCall> calls;  // by lane, at most one each
};

// What lanes did, one collective after the other. Grows with each lane that is added.
class CallSequence {
 public:
  // Times are since `zero_ns`.
  CallSequence(const Interned<CollectiveWhat>& whats, std::int64_t zero_ns) : whats_(whats), zero_ns_(zero_ns) {}

  struct Placed {
    std::vector<SequenceCall> calls;
    std::vector<std::int32_t> entry;  // of each call; -1: none
    std::size_t pairs = 0;            // of calls whose times bind
    std::size_t skipped = 0;          // on either side, of such calls between pairs
    double mad_ns = 0;                // by how much their ends differ from those of the entries, in the median
  };
  // Which entries the calls of another lane are of. Improves its line by them.
  Placed place(AxisLane& lane) const;
  // By ends alone: the nearest entry of each call, if that is near.
  std::vector<std::int32_t> nearest(const AxisLane& lane) const;
  // As place(), and makes it part of the sequence.
  Placed add(AxisLane& lane);

  // Entries in which one lane alone takes part are in order, too.
  const std::vector<SequenceEntry>& entries() const { return entries_; }

 private:
  struct Paired {
    std::vector<std::int32_t> entry;  // of each call; -1: none
    std::vector<double> at_ns, residual_ns;  // of pairs that bind
  };
  std::vector<SequenceCall> timed(const AxisLane& lane) const;
  Paired pair(const CollectiveLane& lane, const std::vector<SequenceCall>& calls, double error_ns) const;
  bool can_be(const SequenceEntry& entry, const CollectiveLane& lane, const SequenceCall& call, double error_ns) const;
  std::size_t skipped(const CollectiveLane& lane, const std::vector<std::int32_t>& paired) const;
  void fill(const CollectiveLane& lane, const std::vector<SequenceCall>& calls, std::vector<std::int32_t>& paired) const;
  void insert(const CollectiveLane& lane, const Placed& placed);

  const Interned<CollectiveWhat>& whats_;
  std::int64_t zero_ns_;
  std::uint32_t lanes_ = 0;
  std::vector<SequenceEntry> entries_;
};

// Of two lanes whose clocks are known against each other: b's to a's by `line`, which is improved.
LaneFit fit_on_axis(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, AxisLine& line);

// As fit_lanes(), where calls may be missing on either side, so that no single shift does: part of one lane is found in the other, and
// the rest is paired from there on. `shift` says nothing then. The line is that of `b`, to a's times.
LaneFit fit_with_losses(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, FitBudget& budget, AxisLine& line);

// That of a fit without losses: of the second lane, to a's times. And the same the other way round.
AxisLine line_of(const LaneFit& fit, const CollectiveLane& a);
AxisLine turned(const AxisLine& line);
// First `inner`, then `outer`.
AxisLine joined(const AxisLine& outer, const AxisLine& inner);

}  // namespace cli
