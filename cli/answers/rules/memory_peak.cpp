// memory-peak: nearly all memory of a GPU is in use at the peak. The finding names the line of code that allocated most of
// it.
#include "cli/answers/rules/memory_rule.h"

namespace cli::rules {
namespace {

constexpr double kMostInUse = 0.9;  // of the GPU's memory

class MemoryPeak : public HeldMemoryRule {
 public:
  using HeldMemoryRule::HeldMemoryRule;

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
    if (worst.holder) {
      finding.title += "; " + holder_text(*worst.holder);
      finding.saving_bytes = worst.holder->bytes;
    }
    finding.advice =
        "Use activation checkpointing, a smaller micro-batch with gradient accumulation, sharded optimizer state (FSDP, ZeRO) or bfloat16. A slightly larger batch may run out of memory, "
        "and the allocator may already release memory in steps (see allocation-retries).";
  }
  std::optional<memory::Holders::Holder> holder_of(const DeviceMemory& row) override {
    return holder_of_row(row, [&](ProcessId id) { return holders().at_peak(id, row.device); });
  }
  std::string holder_text(const memory::Holders::Holder& holder) const override {
    return fmt::format("{} allocated {} of it, more than any other code in the trace", holder.line,
                       bytes_text(holder.bytes));
  }
};

}  // namespace

RuleEntry memory_peak_rule() {
  return rule_entry<MemoryPeak>(
      {.name = "memory-peak",
       .fires = "more than 90 % of a GPU's memory is in use at the peak",
       .source = "PyTorch, torch.utils.checkpoint: https://pytorch.org/docs/stable/checkpoint.html",
       .inputs = {RuleInput::device_memory},
       .tables = {"memory"},
       .needs = {.kinds = memory::Holders::kinds()}});
}

}  // namespace cli::rules
