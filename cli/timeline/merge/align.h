// Puts the clocks of all hosts on one axis.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

// Clock domains of inputs. Processes with the same clock_name() share a clock; a process without one has its own. A merged
// file is already on its axis, so its clock is not changed.
class ClockDomains {
 public:
  explicit ClockDomains(bool each_has_its_own = false) : each_has_its_own_(each_has_its_own) {}

  std::uint32_t of_process(const Process& process);
  std::uint32_t of_merged();  // clock with offset 0 that is not reported

  std::optional<std::uint32_t> merged() const {
    return merged_ == ~std::uint32_t{0} ? std::nullopt : std::optional(merged_);
  }

  std::vector<ClockFit>& fits() { return fits_; }
  bool reported(std::uint32_t clock) const { return clock != merged_; }

 private:
  std::uint32_t add(const Process& process);

  bool each_has_its_own_;
  std::vector<ClockFit> fits_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::uint32_t merged_ = ~std::uint32_t{0};
};

// Both functions set all members of the fits except host, boot_id and ranks.

// Keeps each host's own wall clock. Nothing is estimated, so the error is unknown.
void keep_wall_clocks(std::vector<ClockFit>& fits);
// Returns true if all of them are wall clocks, which can still be aligned.
bool are_wall_clocks(const std::vector<ClockFit>& fits);

struct AlignInput {
  const Catalog& catalog;
  const CollectiveCalls& calls;             // of its processes, on their own clocks
  std::span<const std::uint32_t> clock_of;  // by ProcessId: an index of the fits
  std::optional<std::uint32_t> fixed;       // a clock that is the axis already
};

// Aligns clocks by the collectives that hosts share (cli/timeline/clocks/fit_clocks.h). Hosts that share none keep
// their wall clocks.
void align_by_collectives(const AlignInput& input, std::vector<ClockFit>& fits);

// Returns true if a process of this input may have taken part in collectives. Finding them takes a walk through its
// events.
bool may_have_collectives(const Catalog& catalog);

}  // namespace cli
