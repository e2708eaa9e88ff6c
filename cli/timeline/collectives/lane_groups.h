// Finds which lanes belong to one communicator if no name does.
//
// Ranks that work in lockstep have similar ends even in collectives of different communicators. The evidence is calls
// whose starts disagree: in one communicator, an early rank waits and ends together with the late one. For each pair of
// lanes, each call whose starts differ from their usual distance by more than the noise of the ends is evidence: for
// one communicator if the ends agree there, against it if the ends differ like the starts.
//
// Pairs alone cannot separate groups that are late together, for example because a rank of each group waited for the
// same slow rank before. Therefore all lanes connected by pairs are judged together. They are one group if one rank
// alone was late often enough and all ends agree with it: in several groups, the others would have continued without
// the late rank, unless a lane outside of them ended equally late. Otherwise they are divided if the ends of some lanes
// agree clearly better than those of all. If they do not, both answers are possible and none is chosen. This is the
// view of the first lane, so the caller repeats it for each member.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/trace/event.h"

namespace cli {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Starts and ends of a lane's calls on one axis, indexed by the sequence that all lanes share; kMissing if the lane has
// no such call.
struct LaneTimes {
  ProcessId process = 0;
  bool has_known_clock = false;  // relative to the first lane's, from other collectives
  std::uint32_t name = 0;        // of the communicator; 0 if unknown
  bool is_witness = false;       // cannot belong to a group found here, but the others may have waited for it
  std::vector<double> start_ns, end_ns;
};

struct LaneGrouping {
  // Indices of lanes, ascending: the first lane and the lanes proved to be in its group; the first lane alone if there
  // are none.
  std::vector<std::size_t> members;
  // If not empty, these lanes may be one group or several, one of them `apart`. Nothing is chosen, and `members` is the
  // first lane alone.
  std::vector<std::size_t> together, apart;
};

// Returns the group of the first lane.
LaneGrouping group_of_first(const std::vector<LaneTimes>& lanes);

}  // namespace cli
