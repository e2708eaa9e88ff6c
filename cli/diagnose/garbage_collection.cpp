// garbage-collection: the GPU idles, or other ranks wait, because the host is in Python's garbage collector before it launches.
#include <fmt/format.h>

#include "cli/diagnose/idle_rule.h"

namespace cli {
namespace {

constexpr std::int64_t kLeastCollectingShare = 50;  // 1 / so much of the time

class GarbageCollection : public IdleRule {
 public:
  using IdleRule::IdleRule;

 private:
  std::int64_t share_of(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) override { return gap.collecting_ns(from_ns, to_ns); }
  std::string describe(const DeviceGap& gap) const override { return "in Python's garbage collector; " + around_text(context_.catalog, gap); }
  bool fires(ProcessId, const Sum& sum, std::int64_t length_ns) const override { return sum.ns * kLeastCollectingShare > length_ns; }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("Python's garbage collector holds up the host: the GPU idles {} meanwhile, {}", per_step_text(scope, sum.ns), times_text(scope, sum.count));
    finding.advice = kGarbageCollectionAdvice;
  }
};

}  // namespace

RuleEntry garbage_collection_rule() {
  return {.name = "garbage-collection",
          .fires = "a GPU idles for 2 % of the time because its host is in Python's garbage collector",
          .source = "Megatron-LM: --manual-gc; torchtitan: GarbageCollection, gc_freq",
          .needs = IdleRule::needs(),
          .make = make_rule<GarbageCollection>};
}

}  // namespace cli
