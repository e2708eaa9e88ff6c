// What is known of the clocks by which the times of a trace were taken. The one place where analyses over ranks ask for it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

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

}  // namespace cli
