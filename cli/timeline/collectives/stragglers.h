// Who is late, what it costs the others, and why.
//
// A rank is late in a collective by its own start minus the median of the ranks' starts (of an even number the earlier one of
// the two in the middle), as far as that is more than the clocks of the two may be wrong. Only collectives count in which no rank can end
// before all have begun. Times of different ranks are compared where they have one clock, or clocks that were put on one axis (clocks.h);
// else each start is measured from the rank's own end, which is nearly the same moment on all of them.
//
// A straggler is a rank for which alone the others wait for at least 2 % of its span, beyond chance. A set of ranks is looked for, because ranks that
// are late in turn or together are no others to each other: the smallest set of the ranks with the largest shares of what is waited (Shapley's), each
// of whom costs 2 %. The set, and each rank of it when the rest of the set is left aside, has to be later than chance allows (statistics.h): one run
// in a hundred in which all ranks are alike may name anybody. What was found is taken out, and the rest is looked at again. A rank that is late only
// because it waited in another communicator is no straggler: its reason says so.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/timeline/collectives/late_causes.h"
#include "cli/timeline/collectives/match.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

// What is known of the clocks by which the times of a trace were taken. The one place where analyses over ranks ask for it.
struct ClockKnowledge {
  std::vector<std::uint32_t> domains;  // by ProcessId: processes of one domain have one clock
  // By ProcessId: so far its times may be from the axis, as far as the estimate of its clock tells: six standard errors of the offset, of
  // which a drift that is not known can add some at the ends of the run; less where causality leaves less. Empty: there is no estimate.
  std::vector<std::optional<std::int64_t>> errors_ns;

  // Of the difference of two processes' times; empty: they cannot be compared.
  std::optional<std::int64_t> error_between(ProcessId a, ProcessId b) const {
    if (domains[a] == domains[b]) return 0;
    if (!errors_ns[a] || !errors_ns[b]) return {};
    return *errors_ns[a] + *errors_ns[b];
  }
};

// `fits`: those that Process::clock counts. Where a process has none of them, processes of one boot of a host, or where that is not
// known of one host, have one clock; others each their own.
ClockKnowledge clocks_of(const Catalog& catalog, const std::vector<ClockFit>& fits);

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
