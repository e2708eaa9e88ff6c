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

// Which clock timed an input. Processes with one boot id share a clock; where that is unknown, those with one host
// name; where both are, each has its own. A merged file is on its axis already: its clock is left alone.

// "boot ..." or "host ..."; "": neither is known.
std::string clock_name(const Process& process);

class ClockDomains {
 public:
  explicit ClockDomains(bool each_has_its_own = false) : each_has_its_own_(each_has_its_own) {}

  std::uint32_t of_process(const Process& process);
  std::uint32_t of_merged();  // a clock with offset 0, in no report

  std::optional<std::uint32_t> merged() const { return merged_ == ~std::uint32_t{0} ? std::nullopt : std::optional(merged_); }

  std::vector<ClockFit>& fits() { return fits_; }
  bool reported(std::uint32_t clock) const { return clock != merged_; }

 private:
  std::uint32_t add(const Process& process);

  bool each_has_its_own_;
  std::vector<ClockFit> fits_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::uint32_t merged_ = ~std::uint32_t{0};
};

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
