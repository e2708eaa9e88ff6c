// launch-bound: kernels are so short that the GPU waits for each launch. Sums idle time in which the host launched
// continuously, or the work was launched and had not begun (causes launch and queued).
#include "cli/answers/rules/idle_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastLaunchShare = 10;  // 1 / N of the time
constexpr std::int64_t kShort_ns = 10'000;      // such a kernel takes about as long as a launch
constexpr std::int64_t kShortPercent = 30;      // minimum share of short kernels

class LaunchBound : public IdleRule {
 public:
  explicit LaunchBound(const AnalysisContext& context) : IdleRule(context, kLeastLaunchShare) {}

  void work(const GpuWork& work) override {
    if (work.kind == Kind::kernel && context_.windows.hold(work.process, work.start_ns, work.end_ns)) {
      Kernels& kernels = kernels_[work.process];
      ++kernels.all;
      if (work.end_ns - work.start_ns < kShort_ns) ++kernels.few_us;
    }
  }

 private:
  struct Kernels {
    std::int64_t all = 0, few_us = 0;
    std::int64_t percent() const { return all == 0 ? 0 : 100 * few_us / all; }
  };

  std::string describe(const ClaimedGap& claim) const override { return around_text(context_.catalog, claim.gap); }
  bool fires(ProcessId process, const Sum& sum, std::int64_t length_ns) const override {
    const auto kernels = kernels_.find(process);  // not found if the process runs only copies
    return IdleRule::fires(process, sum, length_ns) && kernels != kernels_.end() &&
           kernels->second.percent() > kShortPercent;
  }
  void explain(const DiagnosisScope& scope, ProcessId most, const Sum& sum, Finding& finding) const override {
    const Kernels& kernels = kernels_.at(most);
    finding.title = fmt::format(
        "the GPU waits for launches: it idles {} between consecutive launches; {} % of {} kernels take less than 10 us",
        per_step_text(scope, sum.ns), kernels.percent(), kernels.all);
    finding.advice =
        "Launch fewer and larger kernels: torch.compile, CUDA graphs (mode=\"reduce-overhead\"), foreach or fused optimizers, larger batches.";
  }

  std::map<ProcessId, Kernels> kernels_;
};

}  // namespace

RuleEntry launch_bound_rule() {
  return rule_entry<LaunchBound>(
      {.name = "launch-bound",
       .fires =
           "a GPU idles for more than 10 % of the time between consecutive launches, and more than 30 % of its kernels take less than 10 us",
       .source =
           "PyTorch, Accelerating PyTorch with CUDA Graphs: https://pytorch.org/blog/accelerating-pytorch-with-cuda-graphs/",
       .inputs = {RuleInput::launches},
       .gap_owner = GapOwner::launches});
}

}  // namespace cli::rules
