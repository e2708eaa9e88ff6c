// host-late: the GPU idles because its host had not begun to launch: it did something else, and was neither in a synchronization nor
// in a range that loads data, nor in Python's garbage collector (host-sync, data-starved, garbage-collection).
#include <fmt/format.h>

#include "cli/diagnose/idle_rule.h"

namespace cli {
namespace {

constexpr std::int64_t kLeastLateShare = 20;  // 1 / so much of the time

class HostLate : public IdleRule {
 public:
  using IdleRule::IdleRule;

 private:
  std::int64_t share_of(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) override {
    const std::int64_t late_ns = gap.times(from_ns, to_ns)[static_cast<std::size_t>(IdleCause::host_late)];
    if (late_ns == 0) return 0;
    return late_ns - activity_.loading_ns(gap.next->call->track, from_ns, std::min(to_ns, gap.next->call->start_ns)) - gap.collecting_ns(from_ns, to_ns);
  }
  std::string describe(const DeviceGap& gap) const override {
    const std::int64_t called_ns = gap.next->call->start_ns;
    return activity_.text(gap.next->call->track, gap.from_ns + (called_ns - gap.from_ns) / 2) + "; " + around_text(context_.catalog, gap);
  }
  bool fires(ProcessId, const Sum& sum, std::int64_t length_ns) const override { return sum.ns * kLeastLateShare > length_ns; }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("the host is late: the GPU idles {} before its next launch", per_step_text(scope, sum.ns));
    finding.advice =
        "See what the host did in these ranges (Python, logging, checkpoints, a busy CPU). Move it to another thread or to every N steps; "
        "let the host run ahead of the GPU: fewer operators by torch.compile or CUDA graphs, fused optimizers.";
  }
};

}  // namespace

RuleEntry host_late_rule() {
  return {.name = "host-late",
          .fires = "a GPU idles for 5 % of the time because its host had not begun to launch",
          .source = "Profiling: \"Large gaps between GPU kernels: CPU-side overhead\"",
          .needs = IdleRule::needs(),
          .make = make_rule<HostLate>};
}

}  // namespace cli
