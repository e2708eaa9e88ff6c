// Puts the clocks of several hosts on one axis, using the collectives that they share.
//
// Model: the clock of a domain differs from that of the reference domain by an offset and a drift:
//
//     axis = t + offset + drift * (t - reference)          (ClockFit)
//
// Samples: a collective in which every rank depends on all others ends at nearly the same moment everywhere. The mean
// end of each domain uses its earliest ends, as many as the domain with fewest ranks has. The difference between two
// domains is the difference of their clocks plus jitter. The estimate is a robust line through these differences
// (medians first; then early ends count more than late ones, because noise only delays). Small messages, whose ends are
// closest, have more weight. Starts are not used, because ranks start late for other reasons.
//
// Bounds: no rank ends before the last one has begun. For two domains a and b, every collective therefore requires
//
//     last start of a - first end of b  <=  offset of b - offset of a  <=  first end of a - last start of b
//
// regardless of jitter and of anything that delays the ends of one host. Broadcasts, reduces and sends give one of the
// two bounds. Over all domains, the combined bounds are the shortest paths in the graph of differences. A bound is as
// exact as the GPU times are on the clock of their host (1 us).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/timeline/collectives/match.h"
#include "cli/trace/clocks.h"

namespace cli {

// Sets all members of each fit except host, boot_id and ranks. The order of the fits is that of the domains;
// `domain_of` is indexed by ProcessId. The first domain of each set that shares collectives is the reference with
// offset 0; `fixed` has priority. An offset is applied if it exceeds two standard errors, a drift if it exceeds three.
// A domain that shares no collective keeps its wall clock; its `method` reports that.
void fit_clocks(const CollectiveCalls& calls, const MatchedCollectives& matched,
                std::span<const std::uint32_t> domain_of, std::optional<std::uint32_t> fixed,
                std::vector<ClockFit>& fits);

}  // namespace cli
