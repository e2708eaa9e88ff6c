// garbage-collection: the GPU idles, or other ranks wait, because the host is in Python's garbage collector before it launches.
#include "cli/answers/rules/idle_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastCollectingShare = 50;  // 1 / N of the time

class GarbageCollection : public IdleRule {
 public:
  explicit GarbageCollection(const AnalysisContext& context) : IdleRule(context, kLeastCollectingShare) {}

 private:
  std::string describe(const ClaimedGap& claim) const override {
    return "in Python's garbage collector; " + around_text(context_.catalog, claim.gap);
  }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("Python's garbage collector delays the host {}, and the GPU idles {}",
                                times_text(scope, sum.count), per_step_text(scope, sum.ns));
    finding.advice = kGarbageCollectionAdvice;
  }
};

}  // namespace

RuleEntry garbage_collection_rule() {
  return rule_entry<GarbageCollection>(
      {.name = "garbage-collection",
       .fires = "a GPU idles for more than 2 % of the time because its host runs Python's garbage collector",
       .source = "Python, gc: https://docs.python.org/3/library/gc.html#gc.freeze",
       .inputs = {RuleInput::launches, RuleInput::garbage_collections},
       .gap_owner = GapOwner::garbage_collection});
}

}  // namespace cli::rules
