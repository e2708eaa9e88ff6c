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
  std::int64_t share_of(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) override {
    return gap.times(from_ns, to_ns)[static_cast<std::size_t>(IdleCause::unexplained)];
  }
  std::string describe(const DeviceGap& gap) const override {
    return (gap.next->call == nullptr ? "host state unknown; " : "launched long before; ") + around_text(context_.catalog, gap);
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
          .source = "Day 11: torch.profiler & Trace Analysis: \"GPU busy < 80 %\"",
          .needs = IdleRule::needs(),
          .make = make_rule<GpuIdle>};
}

}  // namespace cli
