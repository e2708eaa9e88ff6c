#include "cli/answers/rules/rule.h"

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
      garbage_collection_rule(),
      launch_bound_rule(),
      gpu_idle_rule(),
      launch_queue_full_rule(),
      pageable_copy_rule(),
      allocation_in_step_rule(),
      fp32_matmul_rule(),
      unaligned_matmul_rule(),
      unfused_attention_rule(),
      memory_bound_kernels_rule(),
      copy_cast_rule(),
      single_tensor_optimizer_rule(),
      backward_long_rule(),
      memory_peak_rule(),
      memory_growth_rule(),
      fragmentation_rule(),
      step_outlier_rule(),
      slow_first_rule(),
      recording_overhead_rule()};
  return all;
}

}  // namespace cli
