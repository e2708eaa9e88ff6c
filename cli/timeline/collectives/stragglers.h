// Finds late ranks, the cost for the other ranks, and the cause.
//
// The lateness of a rank in a collective is its own start minus the median start of the ranks (the earlier of the two
// middle ones if their number is even), reduced by the possible error between the two clocks. Only collectives in which
// no rank can end before all have begun count. Times of different ranks are compared if the ranks share a clock or
// their clocks were put on one axis (clocks.h). Otherwise each start is measured from the rank's own end, which is
// nearly the same moment on all ranks.
//
// A straggler is a rank for which alone the others wait at least 2 % of its span, beyond chance. The search is for a
// set of ranks, because ranks that are late in turn or together hide each other. It takes the smallest set of ranks
// with the largest shares of the waiting time (Shapley values), each of which costs 2 %. The set, and each rank of it
// when the rest of the set is excluded, has to be later than chance allows (statistics.h): at most one run in a hundred
// with equal ranks has a false straggler. The stragglers found are removed and the search repeats. A rank that is late
// only because it waited in another communicator is no straggler; its reason contains that.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/timeline/collectives/late_causes.h"
#include "cli/timeline/collectives/match.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

// Knowledge about the clocks of a trace's times. All analyses across ranks use it.
struct ClockKnowledge {
  std::vector<std::uint32_t> domains;  // by ProcessId; processes of one domain share a clock
  // Error bound of a process's times on the axis, by ProcessId: six standard errors of the offset, plus the effect of
  // an unknown drift at the ends of the run; less if causality limits it further. Empty if there is no estimate.
  std::vector<std::optional<std::int64_t>> errors_ns;

  // Returns the error bound of the difference between times of two processes; nullopt if they cannot be compared.
  std::optional<std::int64_t> error_between(ProcessId a, ProcessId b) const {
    if (domains[a] == domains[b]) return 0;
    if (!errors_ns[a] || !errors_ns[b]) return {};
    return *errors_ns[a] + *errors_ns[b];
  }
};

// `fits` are indexed by Process::clock. Processes without a fit share a clock if they have the same boot id, or, if it
// is unknown, the same host; all others have their own.
ClockKnowledge clocks_of(const Catalog& catalog, const std::vector<ClockFit>& fits);

struct RankLateness {
  bool straggler = false;
  std::int64_t collectives = 0;  // counted collectives in which it took part
  std::int64_t late_ns = 0;      // sum over these collectives
  std::int64_t waited_ns = 0;    // from its starts to the last starts
  // Time that the other ranks, except stragglers, waited for this rank alone: from the last start of the others to its
  // own start. For a straggler, the other stragglers are excluded, too.
  std::int64_t others_waited_ns = 0;
  // The same per rank: the time by which all of these collectives would have begun earlier
  std::int64_t delayed_ns = 0;
  std::int64_t times_last = 0;
  LateReason reason;  // set for stragglers and for ranks that are late because they waited elsewhere
};

struct Lateness {
  std::vector<RankLateness> ranks;  // by ProcessId
  std::int64_t collectives = 0;     // counted collectives
  std::int64_t waited_ns = 0;       // by all ranks
  std::int64_t set_cost_ns = 0;     // part of waited_ns of non-stragglers that would vanish without all stragglers
  bool by_ends = false;             // starts of some collectives were measured from the ranks' own ends
};

// `chosen` contains indices in matched.collectives. Memory: collectives x ranks. Time: the same for each round that
// finds a rank.
Lateness find_stragglers(const CollectiveCalls& calls, const MatchedCollectives& matched,
                         const std::vector<std::uint32_t>& chosen, const ClockKnowledge& clocks);

}  // namespace cli
