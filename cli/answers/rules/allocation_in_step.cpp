// allocation-in-step: the driver allocates or releases GPU memory in training steps after the first two, when a caching allocator
// has all the memory that it needs. Releasing memory waits for the GPU, so the GPU idles afterwards.
#include "cli/answers/rules/rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastAllocationShare = 100;  // 1 / N of the time: idle time in and after the calls

class AllocationInStep : public Rule {
 public:
  explicit AllocationInStep(const AnalysisContext& context) : Rule(context), calls_(context) {}

  void event(const Event& event, const Facts&) override {
    const auto call = calls_.event(event);
    if (!call) return;
    const ProcessId id = context_.catalog.tracks[event.track].process;
    OfProcess& process = processes_[id];
    ++process.count;
    ++process.counts[event.name];
    process.time_ns += call->end_ns - call->start_ns;
    evidence_.add(id, call->start_ns, call->end_ns, call->end_ns - call->start_ns, [&] {
      return name_of(event.name) + ", called " + claims_->activity().text(event.track, event.start_ns);
    });
  }
  void end_of(ProcessId process) override { calls_.end_of(process); }
  void claimed(const ClaimedGap& claim) override { idle_ns_[{claim.gap.process, claim.gap.device}] += claim.ns; }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, idle_ns] : idle_ns_) {
      if (idle_ns > scope.time.lengths_ns[device.first] / kLeastAllocationShare)
        fired.add(device.first, device.second, idle_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    const OfProcess& most = processes_.at(fired.most);
    StringId often = most.counts.begin()->first;
    for (const auto& [name, count] : most.counts) {
      if (count > most.counts.at(often)) often = name;
    }
    finding.title = fmt::format(
        "the program allocates or releases GPU memory through the driver {}, mostly with {}; the calls take {}, and the GPU idles {} in and after them",
        times_text(scope, most.count), name_of(often), per_step_text(scope, most.time_ns),
        per_step_text(scope, fired.most_ns));
    finding.advice =
        "Remove torch.cuda.empty_cache() from the step, reuse buffers, keep sizes constant (pad batches), and set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. "
        "CUDA programs can use cudaMallocAsync, or allocate before the loop.";
    return {finding};
  }

 private:
  struct OfProcess {
    std::int64_t count = 0, time_ns = 0;
    std::map<StringId, std::int64_t> counts;
  };

  LateAllocations calls_;
  std::map<ProcessId, OfProcess> processes_;
  std::map<std::pair<ProcessId, std::int64_t>, std::int64_t> idle_ns_;  // by device
  LongestEvidence evidence_;
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
