// host-sync: the host waits for its GPU, so the GPU idles until the host returns and launches more work. A
// synchronization alone is not a finding: the idle time from the end of the awaited work to the next work counts. Waits
// in copies to the device belong to pageable-copy.
#include "cli/answers/rules/idle_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastSyncShare = 100;  // 1 / N of the time

class HostSync : public IdleRule {
 public:
  explicit HostSync(const AnalysisContext& context) : IdleRule(context, kLeastSyncShare) {}

 private:
  void claimed(const ClaimedGap& claim) override {
    ++calls_[{claim.gap.process, claim.gap.wait->name}];
    IdleRule::claimed(claim);
  }
  std::string describe(const ClaimedGap& claim) const override {
    const HostWait& wait = *claim.gap.wait;
    return fmt::format("{} of {}, {}; {}", name_of(wait.name), duration_text(wait.end_ns - wait.start_ns),
                       claim.activity.text(wait.track, wait.start_ns), around_text(context_.catalog, claim.gap));
  }
  void explain(const DiagnosisScope& scope, ProcessId most, const Sum& sum, Finding& finding) const override {
    std::pair<std::int64_t, StringId> often{};
    for (const auto& [call, count] : calls_) {
      if (call.first == most && count > often.first) often = {count, call.second};
    }
    finding.title = fmt::format("the host waits for the GPU {}, mostly in {}: the GPU then idles {}",
                                times_text(scope, sum.count), name_of(often.second), per_step_text(scope, sum.ns));
    finding.advice =
        "Look for .item(), .cpu(), .tolist(), print(tensor), boolean masks and torch.cuda.synchronize() in the step. Keep values on the GPU and read them every N steps, or "
        "copy them to pinned memory with non_blocking=True. torch.cuda.set_sync_debug_mode(\"warn\") prints the lines.";
  }

  std::map<std::pair<ProcessId, StringId>, std::int64_t> calls_;
};

}  // namespace

RuleEntry host_sync_rule() {
  return rule_entry<HostSync>(
      {.name = "host-sync",
       .fires = "a GPU idles for more than 1 % of the time after its host waited for it",
       .source =
           "PyTorch, Performance Tuning Guide: https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html (avoid unnecessary CPU-GPU synchronization)",
       .inputs = {RuleInput::launches},
       .gap_owner = GapOwner::host_sync});
}

}  // namespace cli::rules
