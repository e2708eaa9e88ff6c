// Which lanes are of one communicator, where no name says so.
//
// Ranks that work in lockstep end alike in collectives of different communicators, too. What proves that two are in one are the calls
// whose starts disagree: a rank that is early waits, and ends with the late one. So, of each pair of lanes, each call whose starts lie
// further from their usual distance than the ends' noise is evidence: for one communicator, if the ends agree there, and against it, if
// they follow the starts.
//
// Pairs alone do not tell groups apart that are late together, as when a rank of each waited for the same slow one before. So all lanes
// that pairs connect are judged together: they are one group if one rank alone was late often enough, and all ends agree with it. No
// division into several groups explains that, because the others would have gone on without the late one, unless another lane that is
// not one of them came and ended as late. Else they are divided where the ends of some agree clearly better than those of all; and where
// these do not, either may be true, and nothing is chosen. All this is as the first lane sees it: the caller asks each member, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/trace/event.h"

namespace cli {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// When a lane's calls began and ended, by the sequence that all lanes share, on one axis; kMissing where it has none.
struct LaneTimes {
  ProcessId process = 0;
  bool has_known_clock = false;  // against the first lane's, from other collectives than these
  std::uint32_t name = 0;        // of the communicator; 0: none
  bool is_witness = false;       // in no group that may be found here, but it may have been the one that others waited for
  std::vector<double> start_ns, end_ns;
};

struct LaneGrouping {
  // Indices of lanes, ascending. Those that are proved to be one group with the first lane, and that lane; it alone, if none is.
  std::vector<std::size_t> members;
  // Not empty: these may be one group, or several, of which `apart` is one. Nothing is chosen; members is the first lane alone.
  std::vector<std::size_t> together, apart;
};

// The group of the first lane.
LaneGrouping group_of_first(const std::vector<LaneTimes>& lanes);

}  // namespace cli
