// data-starved: the GPU idles while the host is in a range that loads data (gap_claims.h) and has launched nothing.
#include "cli/answers/rules/idle_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastStarvedShare = 20;  // 1 / N of the time

class DataStarved : public IdleRule {
 public:
  explicit DataStarved(const AnalysisContext& context) : IdleRule(context, kLeastStarvedShare) {}

 private:
  void claimed(const ClaimedGap& claim) override {
    name_ = claim.activity.loading(claim.gap.next->call->track);
    IdleRule::claimed(claim);
  }
  std::string describe(const ClaimedGap& claim) const override {
    return "the host was in " + name_of(*name_) + "; " + around_text(context_.catalog, claim.gap);
  }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("the GPU waits for data: it idles {} while the host is in {}",
                                per_step_text(scope, sum.ns), name_of(*name_));
    finding.advice =
        "Use DataLoader workers (num_workers=4 or more, prefetch_factor) with pin_memory=True and persistent_workers=True, and copy with non_blocking=True. "
        "If the workers are already busy, decode and augment on the GPU (DALI) or preprocess the data.";
  }

  std::optional<StringId> name_;  // of the newest range that loaded data while a GPU idled
};

}  // namespace

RuleEntry data_starved_rule() {
  return rule_entry<DataStarved>(
      {.name = "data-starved",
       .fires = "a GPU idles for more than 5 % of the time while its host loads data",
       .source =
           "PyTorch, Performance Tuning Guide: https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html (enable asynchronous data loading)",
       .inputs = {RuleInput::launches, RuleInput::host_ranges},
       .gap_owner = GapOwner::data_loading});
}

}  // namespace cli::rules
