#include "cli/answers/rules/rule.h"

namespace cli::rules {

std::string function_name(std::string_view kernel) {
  std::string name = short_name(kernel);
  return name.substr(0, name.find_first_of("<( "));
}

// --launch-skip counts only matching launches. The pattern ends in `$`, because names of generated kernels can be
// prefixes of others.
std::string ncu_command(std::string_view kernel, std::int64_t skip, const std::string& program) {
  std::string pattern = "regex:^";
  for (const char c : function_name(kernel))
    pattern += std::string(std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos ? "\\" : "") + c;
  return fmt::format("ncu --kernel-name {} --launch-skip {} --launch-count 5 --set full --target-processes all {}",
                     shell_word(pattern + "$"), skip,
                     program.empty() ? "YOUR_PROGRAM" : shell_word(program) + " ARGUMENTS");
}

// The rules. Findings with equal savings are sorted in this order: data, communication, launches, then kernels and
// memory.
#define RULES                    \
  ENTRY(stuck)                   \
  ENTRY(data_starved)            \
  ENTRY(straggler)               \
  ENTRY(comm_exposed)            \
  ENTRY(comm_slow)               \
  ENTRY(host_sync)               \
  ENTRY(host_late)               \
  ENTRY(garbage_collection)      \
  ENTRY(launch_bound)            \
  ENTRY(gpu_idle)                \
  ENTRY(launch_queue_full)       \
  ENTRY(pageable_copy)           \
  ENTRY(exposed_copy)            \
  ENTRY(allocation_in_step)      \
  ENTRY(allocation_retries)      \
  ENTRY(fp32_matmul)             \
  ENTRY(unaligned_matmul)        \
  ENTRY(unfused_attention)       \
  ENTRY(memory_bound_kernels)    \
  ENTRY(copy_cast)               \
  ENTRY(single_tensor_optimizer) \
  ENTRY(backward_long)           \
  ENTRY(memory_peak)             \
  ENTRY(memory_growth)           \
  ENTRY(fragmentation)           \
  ENTRY(step_outlier)            \
  ENTRY(slow_first)              \
  ENTRY(recording_overhead)
#define ENTRY(name) RuleEntry name##_rule();
RULES
#undef ENTRY

const std::vector<RuleEntry>& rule_entries() {
#define ENTRY(name) name##_rule(),
  static const std::vector<RuleEntry> all{RULES};
#undef ENTRY
  return all;
}

}  // namespace cli::rules
