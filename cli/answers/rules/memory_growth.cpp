// memory-growth: the memory in use at the end of a step grows from step to step. The finding names the line of code with
// the largest growth.
#include "cli/answers/rules/memory_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kFewestGrowingSteps = 8;
constexpr std::int64_t kMostExceptions = 10;                  // at most 1 / N of the steps do not grow
constexpr std::int64_t kLeastGrowth = std::int64_t{1} << 20;  // bytes per step

class MemoryGrowth : public HeldMemoryRule {
 public:
  using HeldMemoryRule::HeldMemoryRule;

 private:
  std::optional<double> judge(const DeviceMemory& memory) const override {
    const std::int64_t compared = memory.steps - 1, grew = memory.grew_in_steps.value_or(0),
                       bytes = memory.growth_bytes_per_step.value_or(0);
    const bool steady = memory.steps >= kFewestGrowingSteps && (compared - grew) * kMostExceptions <= compared;
    return steady && bytes >= kLeastGrowth ? std::optional(static_cast<double>(bytes)) : std::nullopt;
  }
  void explain(const DeviceMemory& worst, Finding& finding) const override {
    finding.title = fmt::format(
        "memory in use on GPU {}{} grows by {} a step, in {} of {} steps", worst.device, of_rank(worst.rank),
        bytes_text(static_cast<std::uint64_t>(*worst.growth_bytes_per_step)), *worst.grew_in_steps, worst.steps - 1);
    if (worst.device_bytes && worst.end_bytes && *worst.device_bytes > *worst.end_bytes) {
      finding.title += fmt::format("; it will be full after {} more steps",
                                   (*worst.device_bytes - *worst.end_bytes) / *worst.growth_bytes_per_step);
    }
    if (worst.holder) finding.title += "; " + holder_text(*worst.holder);
    if (worst.start_bytes && worst.end_bytes && *worst.end_bytes > *worst.start_bytes)
      finding.saving_bytes = static_cast<std::uint64_t>(*worst.end_bytes - *worst.start_bytes);
    finding.advice =
        "Find the tensors that each step keeps: losses or outputs in a list (store loss.item() or loss.detach()), a retained graph, caches by shape. "
        "tracetool mem shows which lines allocated them, from a memory snapshot of PyTorch.";
  }
  std::optional<memory::Holders::Holder> holder_of(const DeviceMemory& row) override {
    return holder_of_row(row, [&](ProcessId id) { return holders().growth(id, row.device); });
  }
  std::string holder_text(const memory::Holders::Holder& holder) const override {
    return fmt::format("memory allocated by {} grows most, by {} a step", holder.line, bytes_text(holder.bytes));
  }
};

}  // namespace

RuleEntry memory_growth_rule() {
  return rule_entry<MemoryGrowth>(
      {.name = "memory-growth",
       .fires =
           "memory in use at the end of a step grows by at least 1 MiB in 9 of 10 steps; at least 8 steps are needed",
       .source = "PyTorch, Understanding CUDA Memory Usage: https://pytorch.org/docs/stable/torch_cuda_memory.html",
       .inputs = {RuleInput::memory, RuleInput::steps},
       .tables = {"memory"},
       .needs = {.kinds = memory::Holders::kinds()}});
}

}  // namespace cli::rules
