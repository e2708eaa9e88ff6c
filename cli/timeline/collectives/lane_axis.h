// Places calls of several lanes on one time axis, in the sequence of their collectives.
//
// A collective in which every rank depends on all others ends at nearly the same moment everywhere. Once the clocks of
// two lanes are known relative to each other, their calls are paired by their ends. The chosen pairs keep the order of
// both lanes and minimize the sum of the distances between ends. A call that one lane lost is skipped and affects no
// other pair.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/timeline/collectives/align_lanes.h"
#include "cli/timeline/collectives/call_collector.h"

namespace cli {

// Converts the times of a lane to the axis: t + offset_ns + drift * (t - origin_ns).
struct AxisLine {
  std::int64_t origin_ns = 0;
  std::int64_t offset_ns = 0;
  double drift = 0;

  std::int64_t on_axis(std::int64_t t_ns) const;
  // Returns the time since `zero_ns` of the axis.
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
  std::uint32_t lane = 0, call = 0;  // index of the lane as added, index of the call in the lane
  double start_ns = 0, end_ns = 0;   // on the axis
};

struct SequenceEntry {
  double end_ns = 0;  // mean of its calls; interpolated from neighbours if its calls have no times
  double last_start_ns = 0, first_end_ns = 0;  // of calls whose times bind (times_bind())
  WhatId what = 0;
  bool binds = false;
  std::vector<SequenceCall> calls;  // by lane, at most one per lane
};

// The sequence of collectives of several lanes. Grows with each lane that is added.
class CallSequence {
 public:
  // Times are relative to `zero_ns`.
  CallSequence(const Interned<CollectiveWhat>& whats, std::int64_t zero_ns) : whats_(whats), zero_ns_(zero_ns) {}

  struct Placed {
    std::vector<SequenceCall> calls;
    std::vector<std::int32_t> entry;  // by call; -1 if none
    std::size_t pairs = 0;            // of calls whose times bind
    std::size_t skipped = 0;          // calls of either side whose times bind and that lie unpaired between pairs
    double mad_ns = 0;                // median absolute deviation of the call ends from the entry ends
  };
  // Assigns the calls of another lane to entries and refines the lane's line with them.
  Placed place(AxisLane& lane) const;
  // Returns the nearest entry of each call by end time alone; -1 if it is not near.
  std::vector<std::int32_t> nearest(const AxisLane& lane) const;
  // Same as place(), and adds the lane to the sequence.
  Placed add(AxisLane& lane);

  // All entries in order, including entries with a call of only one lane.
  const std::vector<SequenceEntry>& entries() const { return entries_; }

 private:
  struct Paired {
    std::vector<std::int32_t> entry;         // by call; -1 if none
    std::vector<double> at_ns, residual_ns;  // of pairs whose times bind
  };
  std::vector<SequenceCall> timed(const AxisLane& lane) const;
  Paired pair(const CollectiveLane& lane, const std::vector<SequenceCall>& calls, double error_ns) const;
  bool can_be(const SequenceEntry& entry, const CollectiveLane& lane, const SequenceCall& call, double error_ns) const;
  std::size_t skipped(const CollectiveLane& lane, const std::vector<std::int32_t>& paired) const;
  void fill(const CollectiveLane& lane, const std::vector<SequenceCall>& calls,
            std::vector<std::int32_t>& paired) const;
  void insert(const CollectiveLane& lane, const Placed& placed);

  const Interned<CollectiveWhat>& whats_;
  std::int64_t zero_ns_;
  std::uint32_t lanes_ = 0;
  std::vector<SequenceEntry> entries_;
};

// Fits two lanes whose clocks are known relative to each other. `line` converts b's times to a's and is refined.
LaneFit fit_on_axis(const LanePair& lanes, AxisLine& line);

// Same as fit_lanes() if calls may be missing on either side, so that no single shift fits. Finds a part of one lane in
// the other and pairs the remaining calls from there. LaneFit::shift has no meaning then. `line` converts b's times to
// a's.
LaneFit fit_with_losses(const LanePair& lanes, FitBudget& budget, AxisLine& line);

// The first converts the second lane's times to a's, for a fit without losses. The second returns the inverse line.
AxisLine line_of(const LaneFit& fit, const CollectiveLane& a);
AxisLine turned(const AxisLine& line);
// Returns the line that applies `inner`, then `outer`.
AxisLine joined(const AxisLine& outer, const AxisLine& inner);

}  // namespace cli
