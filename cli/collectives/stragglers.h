// Who is late, what it costs the others, and why.
//
// A rank is late in a collective by its own start minus the median of the ranks' starts (of an even number the earlier one of
// the two in the middle), as far as that is more than the clocks of the two may be wrong. Only collectives count in which no rank can end
// before all have begun. Times of different ranks are compared where they have one clock, or clocks that were put on one axis (clocks.h);
// else each start is measured from the rank's own end, which is nearly the same moment on all of them.
//
// A straggler is late for 2 % of its span at least, and in three times its fair share of the collectives, each of which counts
// as much as its last rank was late (halfway between the fair share and all, where three times are more: of few ranks), which is
// more than chance. In a collective those ranks are late that are at least half as late as the last. What was found is taken out, and the rest is looked
// at again: a rank does not hide behind one that is later. A rank that is late because it waited in another communicator is
// none: it is told, and taken out too.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/collectives/clocks.h"
#include "cli/collectives/late_causes.h"
#include "cli/collectives/match.h"

namespace cli {

struct RankLateness {
  bool straggler = false;
  std::int64_t collectives = 0;  // that count, in which it took part
  std::int64_t late_ns = 0;      // sum over them
  std::int64_t waited_ns = 0;    // from its starts to the last ones
  // What the other ranks, stragglers left out, waited for it alone: from the last start of the others to its own. Of a straggler
  // the other stragglers are no others, either.
  std::int64_t others_waited_ns = 0;
  std::int64_t delayed_ns = 0;  // the same for one of them: by so much all of these collectives would have begun earlier
  std::int64_t times_last = 0;
  LateReason reason;  // of stragglers, and of those that are late because they waited elsewhere
};

struct Lateness {
  std::vector<RankLateness> ranks;  // by ProcessId
  std::int64_t collectives = 0;     // that count
  std::int64_t waited_ns = 0;       // by all ranks
  std::int64_t set_cost_ns = 0;     // of that, by those that are no stragglers: what would go with all stragglers
  bool by_ends = false;             // starts of some collectives were measured from the ranks' ends
};

// `chosen`: indices in matched.collectives. Memory: collectives x ranks; time: that, for each round in which somebody is found.
Lateness find_stragglers(const CollectiveCalls& calls, const MatchedCollectives& matched, const std::vector<std::uint32_t>& chosen,
                         const ClockKnowledge& clocks);

}  // namespace cli
