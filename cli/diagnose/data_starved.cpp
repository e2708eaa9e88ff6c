// data-starved: the GPU idles while the host is in a range that loads data (host_activity.h) and has launched nothing.
#include <fmt/format.h>

#include "cli/diagnose/idle_rule.h"
#include "cli/io/units.h"

namespace cli {
namespace {

constexpr std::int64_t kLeastStarvedShare = 20;  // 1 / so much of the time

class DataStarved : public IdleRule {
 public:
  using IdleRule::IdleRule;

 private:
  std::int64_t share_of(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) override {
    if (gap.next->call == nullptr) return 0;
    const std::int64_t called_ns = std::min(to_ns, gap.next->call->start_ns);
    const std::int64_t ns = activity_.loading_ns(gap.next->call->track, from_ns, called_ns);
    if (ns > 0) name_ = activity_.loading(gap.next->call->track);
    return ns;
  }
  std::string describe(const DeviceGap& gap) const override {
    return "the host was in " + std::string(context_.catalog.strings[*name_]) + "; " + around_text(context_.catalog, gap);
  }
  bool fires(ProcessId, const Sum& sum, std::int64_t length_ns) const override { return sum.ns * kLeastStarvedShare > length_ns; }
  void explain(const DiagnosisScope& scope, ProcessId, const Sum& sum, Finding& finding) const override {
    finding.title = fmt::format("the GPU waits for data: it idles {} while the host is in {}", per_step_text(scope, sum.ns), std::string(context_.catalog.strings[*name_]));
    finding.advice =
        "Give the DataLoader workers (num_workers=4 and up, prefetch_factor), pin_memory=True and persistent_workers=True; copy with non_blocking=True; "
        "where workers are busy already, decode and augment on the GPU (DALI) or prepare the data beforehand.";
  }

  std::optional<StringId> name_;  // of the newest range that loaded data while a GPU idled
};

}  // namespace

RuleEntry data_starved_rule() {
  return {.name = "data-starved",
          .fires = "a GPU idles for 5 % of the time while its host loads data",
          .source = "Profiling, table of common bottlenecks: \"GPU utilization < 80 %: CPU data loading bottleneck\"",
          .needs = IdleRule::needs(),
          .make = make_rule<DataStarved>};
}

}  // namespace cli
