// allocation-retries: PyTorch's allocator returns its cached memory to the driver in training steps, because an
// allocation failed or because the program empties the cache. Each release waits for the GPU, and the memory has to be
// allocated again.
#include "cli/answers/rules/allocation_rule.h"

namespace cli::rules {
namespace {

class AllocationRetries : public AllocationRule {
 public:
  using AllocationRule::AllocationRule;

 private:
  struct Counts {
    std::int64_t retries = 0, emptied = 0, releases = 0;
    StringId release_name = 0;  // of the newest
  };

  bool is_judged(const AllocationCalls& calls) const override { return calls.purpose != AllocationPurpose::other; }
  void add(ProcessId process, const AllocationCalls& calls) override {
    Counts& counts = counts_[process];
    ++(calls.purpose == AllocationPurpose::retry ? counts.retries : counts.emptied);
    counts.releases += calls.releases;
    counts.release_name = calls.release_name;
  }
  std::string evidence_text(const AllocationCalls& calls) const override {
    std::string text = calls_text(calls.release_name, calls.releases);
    if (calls.purpose == AllocationPurpose::retry) text += ", then " + name_of(calls.allocation_name);
    return text;
  }
  void explain(const DiagnosisScope& scope, ProcessId most, Finding& finding) const override {
    const Counts& counts = counts_.at(most);
    if (counts.retries > 0) {
      finding.title = fmt::format("PyTorch's allocator runs out of memory {}, releases its cache and allocates again",
                                  times_text(scope, counts.retries));
      finding.advice =
          "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. Use less memory: a smaller batch, activation checkpointing, few different sizes (pad batches). "
          "num_alloc_retries in torch.cuda.memory_stats() counts the retries.";
    }
    if (counts.emptied > 0) {
      finding.title += (finding.title.empty() ? "" : "; ") +
                       fmt::format("the program empties PyTorch's cache {}", times_text(scope, counts.emptied));
      finding.advice +=
          std::string(finding.advice.empty() ? "" : " ") +
          "Remove torch.cuda.empty_cache() from the step: the memory that it releases has to be allocated again.";
    }
    finding.title += fmt::format(" ({} of {})", count_text(static_cast<std::uint64_t>(counts.releases), "call"),
                                 name_of(counts.release_name));
  }

  std::map<ProcessId, Counts> counts_;
};

}  // namespace

RuleEntry allocation_retries_rule() {
  return rule_entry<AllocationRetries>(
      {.name = "allocation-retries",
       .fires =
           "a GPU idles for more than 1 % of the time in or after calls by which PyTorch's allocator releases its cache, in the third step or later",
       .source =
           "PyTorch, CUDA semantics, memory management: https://pytorch.org/docs/stable/notes/cuda.html#memory-management",
       .inputs = {RuleInput::launches, RuleInput::steps},
       .gap_owner = GapOwner::cache_release});
}

}  // namespace cli::rules
