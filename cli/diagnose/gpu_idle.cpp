// gpu-idle: the GPU idles, and nothing that was recorded says why: the call that launched the next work is not in the trace, or had
// returned long before that began.
#include <fmt/format.h>

#include "cli/diagnose/idle_rule.h"

namespace cli {
namespace {

constexpr std::int64_t kLeastIdleShare = 5;  // 1 / so much of the time: busy for less than 80 %

class GpuIdle : public IdleRule {
 public:
  using IdleRule::IdleRule;

 private:
  std::string describe(const ClaimedGap& claim) const override {
    return (claim.gap.next->call == nullptr ? "host state unknown; " : "launched long before; ") + around_text(context_.catalog, claim.gap);
  }
  bool fires(ProcessId, const Sum& sum, std::int64_t length_ns) const override { return sum.ns * kLeastIdleShare > length_ns; }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("the GPU idles {}, and the trace does not say why", per_step_text(scope, sum.ns));
    finding.advice =
        "Record what launches, too: the default TRACETOOL_EVENTS, or ProfilerActivity.CPU beside CUDA. Work that was launched long before it began waits for an event of "
        "another stream, or for a GPU that another process uses.";
  }
};

}  // namespace

RuleEntry gpu_idle_rule() {
  return {.name = "gpu-idle",
          .fires = "a GPU idles for 20 % of the time, and nothing that was recorded explains it",
          .source = "docs/tables.md, table idle (unexplained)",
          .gap_owner = GapOwner::unexplained,
          .make = make_rule<GpuIdle>};
}

}  // namespace cli
