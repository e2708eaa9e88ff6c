#include "cli/answers/rules/rule.h"

#include <fmt/format.h>

#include "cli/base/text.h"
#include "cli/trace/short_name.h"

namespace cli {

std::string function_name(std::string_view kernel) {
  std::string name = short_name(kernel);
  return name.substr(0, name.find_first_of("<( "));
}

// --launch-skip counts launches of kernels that match alone. `$`: names of generated kernels begin with those of others.
std::string ncu_command(std::string_view kernel, std::int64_t skip, const std::string& program) {
  std::string pattern = "regex:^";
  for (const char c : function_name(kernel)) pattern += std::string(std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos ? "\\" : "") + c;
  return fmt::format("ncu --kernel-name {} --launch-skip {} --launch-count 5 --set full --target-processes all {}", shell_word(pattern + "$"), skip,
                     program.empty() ? "YOUR_PROGRAM" : shell_word(program) + " ARGUMENTS");
}

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
