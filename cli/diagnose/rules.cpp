#include "cli/diagnose/rule.h"

namespace cli {

// Findings of equal saving stand in this order: data, communication, launches, then kernels and memory.
const std::vector<RuleEntry>& rules() {
  static const std::vector<RuleEntry> all{
      stuck_rule(),
      data_starved_rule(),
      straggler_rule(),
      comm_exposed_rule(),
      comm_slow_rule(),
      host_sync_rule(),
      host_late_rule(),
      launch_bound_rule(),
      gpu_idle_rule()};
  return all;
}

}  // namespace cli
