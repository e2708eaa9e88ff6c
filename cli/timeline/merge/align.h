// Puts the clocks of all hosts on one axis.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/timeline/collectives/calls.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"

namespace cli {

// Both fill in all of the fits but host, boot_id and ranks.

// Each host's own wall clock: nothing is estimated, so nothing is known of the error.
void keep_wall_clocks(std::vector<ClockFit>& fits);
// Whether they are all so: clocks that can still be aligned.
bool are_wall_clocks(const std::vector<ClockFit>& fits);

struct AlignInput {
  const Catalog& catalog;
  const CollectiveCalls& calls;               // of its processes, by their own clocks
  std::span<const std::uint32_t> clock_of;    // by ProcessId: an index of the fits
  std::optional<std::uint32_t> fixed;         // a clock that is the axis already
};

// By the collectives that hosts share (cli/timeline/clocks/fit_clocks.h); those that share none keep their wall clocks.
void align_by_collectives(const AlignInput& input, std::vector<ClockFit>& fits);

// Whether a process of this input may have taken part in collectives: to look for them takes a walk through its events.
bool may_have_collectives(const Catalog& catalog);

}  // namespace cli
