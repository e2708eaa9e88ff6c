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
    std::int64_t retries = 0, emptied = 0, releases = 0, allocations = 0;
    StringId release_name = 0, allocation_name = 0;  // of the newest
  };

  bool is_judged(const AllocationCalls& calls) const override { return calls.purpose != AllocationPurpose::other; }
  void add(ProcessId process, const AllocationCalls& calls) override {
    Counts& counts = counts_[process];
    if (calls.releases > 0) {
      ++(calls.purpose == AllocationPurpose::retry ? counts.retries : counts.emptied);
      counts.releases += calls.releases;
      counts.release_name = calls.release_name;
    }
    if (calls.allocations > 0) {
      counts.allocations += calls.allocations;
      counts.allocation_name = calls.allocation_name;
    }
  }
  std::string evidence_text(const AllocationCalls& calls) const override {
    if (calls.releases == 0) return name_of(calls.allocation_name) + " of memory that was released";
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
    finding.title += " (" + calls_text(counts.release_name, counts.releases);
    if (counts.allocations > 0) finding.title += ", " + calls_text(counts.allocation_name, counts.allocations);
    finding.title += ")";
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
