// memory-peak: nearly all memory of a GPU is in use at the peak.
#include "cli/answers/rules/memory_rule.h"

namespace cli::rules {
namespace {

constexpr double kMostInUse = 0.9;  // of the GPU's memory

class MemoryPeak : public MemoryRule {
 public:
  using MemoryRule::MemoryRule;

 private:
  std::optional<double> judge(const DeviceMemory& memory) const override {
    if (!memory.device_bytes || !memory.peak_bytes) return std::nullopt;
    const double share = static_cast<double>(*memory.peak_bytes) / static_cast<double>(*memory.device_bytes);
    return share > kMostInUse ? std::optional(share) : std::nullopt;
  }
  void explain(const DeviceMemory& worst, Finding& finding) const override {
    finding.title =
        fmt::format("{:.1f} % of the memory of GPU {}{} is in use at the peak: {} of {}{}",
                    100 * static_cast<double>(*worst.peak_bytes) / static_cast<double>(*worst.device_bytes),
                    worst.device, of_rank(worst.rank), bytes_text(static_cast<std::uint64_t>(*worst.peak_bytes)),
                    bytes_text(static_cast<std::uint64_t>(*worst.device_bytes)),
                    worst.peak_step ? fmt::format(", in step {}", *worst.peak_step) : "");
    finding.advice =
        "Use activation checkpointing, a smaller micro-batch with gradient accumulation, sharded optimizer state (FSDP, ZeRO) or bfloat16. A slightly larger batch may run out of memory, "
        "and the allocator may already release memory in steps (see allocation-in-step).";
  }
};

}  // namespace

RuleEntry memory_peak_rule() {
  return rule_entry<MemoryPeak>(
      {.name = "memory-peak",
       .fires = "more than 90 % of a GPU's memory is in use at the peak",
       .source = "PyTorch, torch.utils.checkpoint: https://pytorch.org/docs/stable/checkpoint.html",
       .inputs = {RuleInput::device_memory},
       .tables = {"memory"}});
}

}  // namespace cli::rules
