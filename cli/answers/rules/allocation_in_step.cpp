// allocation-in-step: the driver allocates or releases GPU memory in training steps after the first two, when a caching allocator
// has all the memory that it needs. Releasing memory waits for the GPU, so the GPU idles afterwards.
#include "cli/answers/rules/allocation_rule.h"

namespace cli::rules {
namespace {

class AllocationInStep : public AllocationRule {
 public:
  using AllocationRule::AllocationRule;

 private:
  bool is_judged(const AllocationCalls& calls) const override { return calls.purpose == AllocationPurpose::other; }
  void add(ProcessId process, const AllocationCalls& calls) override {
    auto& counts = counts_[process];
    if (calls.allocations > 0) counts[calls.allocation_name] += calls.allocations;
    if (calls.releases > 0) counts[calls.release_name] += calls.releases;
  }
  std::string evidence_text(const AllocationCalls& calls) const override {
    std::string text;
    if (calls.allocations > 0) text = calls_text(calls.allocation_name, calls.allocations);
    if (calls.releases > 0) text += (text.empty() ? "" : ", then ") + calls_text(calls.release_name, calls.releases);
    return text;
  }
  void explain(const DiagnosisScope& scope, ProcessId most, Finding& finding) const override {
    std::int64_t count = 0;
    std::pair<std::int64_t, StringId> often{0, 0};
    for (const auto& [name, calls] : counts_.at(most)) {
      count += calls;
      if (calls > often.first) often = {calls, name};
    }
    finding.title = fmt::format("the program allocates or releases GPU memory through the driver {}, mostly with {}",
                                times_text(scope, count), name_of(often.second));
    finding.advice =
        "Reuse buffers, keep sizes constant (pad batches), and set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. Remove torch.cuda.empty_cache() from the step. "
        "CUDA programs can use cudaMallocAsync, or allocate before the loop.";
  }

  std::map<ProcessId, std::map<StringId, std::int64_t>> counts_;  // by name of the call
};

}  // namespace

RuleEntry allocation_in_step_rule() {
  return rule_entry<AllocationInStep>(
      {.name = "allocation-in-step",
       .fires =
           "a GPU idles for more than 1 % of the time in or after calls that allocate or release its memory, in the third step or later",
       .source =
           "PyTorch, CUDA semantics, memory management: https://pytorch.org/docs/stable/notes/cuda.html#memory-management",
       .inputs = {RuleInput::launches, RuleInput::steps},
       .gap_owner = GapOwner::allocation});
}

}  // namespace cli::rules
