// single-tensor-optimizer: the optimizer launches small kernels for each parameter, and the GPU idles between them.
#include "cli/answers/rules/work_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kMostTiny = 200;             // per step
constexpr std::int64_t kLeastOptimizerShare = 100;  // 1 / N of the time: idle time between the kernels

class SingleTensorOptimizer : public Rule {
 public:
  explicit SingleTensorOptimizer(const AnalysisContext& context) : Rule(context), tiny_(context.windows) {}

  void work(const GpuWork& work) override { tiny_.add(work, claims_->is_optimizer_kernel(work)); }
  void claimed(const ClaimedGap& claim) override {
    idle_ns_[{claim.gap.process, claim.gap.device}] += claim.ns;
    evidence_.add(claim.gap.process, claim.from_ns, claim.to_ns, claim.ns,
                  [&] { return "the GPU idles before " + short_name_of(claim.gap.next->name); });
  }

  void end_of(ProcessId process) override { tiny_.end_of(process); }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, sum] : tiny_.sums()) {
      const std::int64_t steps = scope.time.steps, idle_ns = idle_ns_[device];
      const bool many = steps > 0 && sum.count > kMostTiny * steps;
      if (many && idle_ns > scope.time.lengths_ns[device.first] / kLeastOptimizerShare)
        fired.add(device.first, device.second, idle_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    const ExposedWork::Sum& sum = tiny_.sums().at({fired.most, fired.device});
    finding.title = fmt::format(
        "the optimizer launches {} kernels shorter than 10 us per step; they take {}, and the GPU idles {} between them",
        sum.count / scope.time.steps, per_step_text(scope, sum.exposed_ns), per_step_text(scope, fired.most_ns));
    finding.advice =
        "Use one kernel for many parameters: fused=True or foreach=True in torch.optim, apex.optimizers.FusedAdam, or torch.compile for the optimizer step.";
    return {finding};
  }

 private:
  ExposedWork tiny_;
  std::map<ExposedWork::Device, std::int64_t> idle_ns_;
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry single_tensor_optimizer_rule() {
  return rule_entry<SingleTensorOptimizer>(
      {.name = "single-tensor-optimizer",
       .fires =
           "an optimizer launches more than 200 kernels shorter than 10 us per step and no multi-tensor kernel, and the GPU idles for more than 1 % of the time between them",
       .source = "PyTorch, torch.optim (foreach and fused): https://pytorch.org/docs/stable/optim.html",
       .inputs = {RuleInput::launches, RuleInput::host_ranges, RuleInput::steps},
       .gap_owner = GapOwner::optimizer});
}

}  // namespace cli::rules
