// host-late: the GPU idles because its host has not begun to launch. The host is in none of: a synchronization
// (host-sync), a range that loads data (data-starved), Python's garbage collector (garbage-collection).
#include "cli/answers/rules/idle_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastLateShare = 20;  // 1 / N of the time

class HostLate : public IdleRule {
 public:
  explicit HostLate(const AnalysisContext& context) : IdleRule(context, kLeastLateShare) {}

 private:
  std::string describe(const ClaimedGap& claim) const override {
    const std::int64_t from_ns = std::max(claim.gap.from_ns, claim.from_ns),
                       late_ns = claim.gap.next->call->start_ns - from_ns;
    return claim.activity.text(claim.gap.next->call->track, from_ns + late_ns / 2, late_ns) + "; " +
           around_text(context_.catalog, claim.gap);
  }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title =
        fmt::format("the host launches late: the GPU idles {} before the next launch", per_step_text(scope, sum.ns));
    finding.advice =
        "See what the host did in these ranges (Python, logging, checkpoints, a busy CPU). Move it to another thread, or do it every N steps. "
        "Use torch.compile, CUDA graphs or fused optimizers to launch less, so that the host runs ahead of the GPU.";
  }
};

}  // namespace

RuleEntry host_late_rule() {
  return rule_entry<HostLate>(
      {.name = "host-late",
       .fires = "a GPU idles for more than 5 % of the time because its host has not begun to launch the next work",
       .source = "docs/tables.md, table idle (host_late)",
       .inputs = {RuleInput::launches},
       .gap_owner = GapOwner::host_late});
}

}  // namespace cli::rules
