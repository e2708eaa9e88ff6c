// The clocks of several hosts on one axis, from collectives that they share.
//
// Model: the clock of a domain is that of the reference domain, with an offset and a drift:
//
//     axis = t + offset + drift * (t - reference)          (ClockFit)
//
// Samples: a collective in which every rank depends on all ends at nearly the same moment everywhere. Its ends, of each domain as
// many ranks as the one with fewest has, the earliest of them on average, differ between two domains by what the clocks differ,
// and by jitter. A line through these differences, robust (medians, then the early ends before the late ones, since noise only delays), is the
// estimate; small messages, whose ends lie closest, count more. A start would not do: ranks are late for reasons of their own.
//
// Bounds: no rank ends before the last one has begun, which says of two domains a and b in every collective
//
//     last start of a - first end of b  <=  offset of b - offset of a  <=  first end of a - last start of b
//
// whatever the jitter and whatever keeps the ends of one host behind those of another. Broadcasts, reduces and sends give one side of
// it. What these say together, over all domains, are the shortest paths in the graph of differences; a bound holds as far as the
// times of the GPU are right on the clock of their host (1 us).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/timeline/collectives/match.h"
#include "cli/trace/clocks.h"

namespace cli {

// Fills in all but host, boot_id and ranks of each fit, whose order is that of the domains. `domain_of` is by ProcessId.
// The first of domains that share collectives with each other is their reference: its offset is 0; `fixed`
// is one before any other. An offset is
// applied when it is above two standard errors, a drift when it is above three; what shares no collective with another stays
// on its wall clock, as its `method` says.
void fit_clocks(const CollectiveCalls& calls, const MatchedCollectives& matched, std::span<const std::uint32_t> domain_of,
                std::optional<std::uint32_t> fixed, std::vector<ClockFit>& fits);

}  // namespace cli
