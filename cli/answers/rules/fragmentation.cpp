// fragmentation: the allocator reserved far more memory than was ever in use, and the GPU is nearly full. Reserved
// memory that is not in use is the allocator's cache, which is harmless if the GPU has free memory.
#include "cli/answers/rules/memory_rule.h"

namespace cli::rules {
namespace {

constexpr double kLeastReserved = 0.8;  // of the GPU's memory; below it, enough memory is free
constexpr double kLeastUnused = 0.2;    // of the GPU's memory
constexpr std::int64_t kLeastUnusedBytes = std::int64_t{1} << 30;

class Fragmentation : public MemoryRule {
 public:
  using MemoryRule::MemoryRule;

 private:
  std::optional<double> judge(const DeviceMemory& memory) const override {
    if (!memory.device_bytes || !memory.peak_bytes || !memory.reserved_peak_bytes) return std::nullopt;
    const auto device = static_cast<double>(*memory.device_bytes);
    const std::int64_t unused = *memory.reserved_peak_bytes - *memory.peak_bytes;
    const bool full = static_cast<double>(*memory.reserved_peak_bytes) > kLeastReserved * device;
    return full && unused > kLeastUnusedBytes && static_cast<double>(unused) > kLeastUnused * device
               ? std::optional(static_cast<double>(unused))
               : std::nullopt;
  }
  void explain(const DeviceMemory& worst, Finding& finding) const override {
    const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); };
    finding.title = fmt::format("the allocator reserves {} of {} on GPU {}{}, but at most {} is in use",
                                text(*worst.reserved_peak_bytes), text(*worst.device_bytes), worst.device,
                                of_rank(worst.rank), text(*worst.peak_bytes));
    finding.saving_bytes = static_cast<std::uint64_t>(*worst.reserved_peak_bytes - *worst.peak_bytes);
    finding.advice =
        "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. Use few different sizes (pad batches to a few lengths). Call torch.cuda.empty_cache() once before the first step, "
        "to release memory that only start-up needed.";
  }
};

}  // namespace

RuleEntry fragmentation_rule() {
  return rule_entry<Fragmentation>(
      {.name = "fragmentation",
       .fires = "more than 80 % of a GPU's memory is reserved, and more than 20 % (and 1 GiB) of it is never in use",
       .source =
           "PyTorch, CUDA semantics, PYTORCH_CUDA_ALLOC_CONF: https://pytorch.org/docs/stable/notes/cuda.html#memory-management",
       .inputs = {RuleInput::device_memory},
       .tables = {"memory"}});
}

}  // namespace cli::rules
