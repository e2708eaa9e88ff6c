#include "cli/answers/rules/idle_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/answers/rules/rule.h"
#include "cli/base/text.h"
#include "cli/trace/event_times.h"
#include "cli/trace/short_name.h"

namespace cli::rules {

void IdleRule::claimed(const ClaimedGap& claim) {
  Owned& owned = claim.if_no_optimizer ? if_no_optimizer_ : owned_;
  Sum& sum = owned.sums[{claim.gap.process, claim.gap.device}];
  sum.ns += claim.ns;
  sum.longest_ns = std::max(sum.longest_ns, claim.ns);
  ++sum.count;
  owned.evidence.add(claim.gap.process, claim.from_ns, claim.to_ns, claim.ns, [&] { return describe(claim); });
}

void IdleRule::keep_without_optimizer(const std::vector<bool>& processes) {
  for (const auto& [device, more] : if_no_optimizer_.sums) {
    if (!processes[device.first]) continue;
    Sum& sum = owned_.sums[device];
    sum.ns += more.ns;
    sum.longest_ns = std::max(sum.longest_ns, more.longest_ns);
    sum.count += more.count;
  }
  owned_.evidence.take(std::move(if_no_optimizer_.evidence), processes);
}

std::vector<Finding> IdleRule::find(const DiagnosisScope& scope, const std::vector<ResultTable>&) {
  Fired fired;
  const Sum* most = nullptr;
  for (const auto& [device, sum] : owned_.sums) {
    if (!fires(device.first, sum, scope.time.lengths_ns[device.first])) continue;
    if (sum.ns > fired.most_ns) most = &sum;
    fired.add(device.first, device.second, sum.ns);
  }
  if (fired.empty()) return {};
  Finding finding = fired.finding(scope, owned_.evidence);
  explain(scope, fired.most, *most, finding);
  if (most->count > 1 && 2 * most->longest_ns > most->ns)
    finding.title += fmt::format("; {} of it in one gap", duration_text(most->longest_ns));
  return {finding};
}

std::string around_text(const Catalog& catalog, const DeviceGap& gap) {
  return (gap.from_ns == kEarliest_ns ? "no work" : short_name(catalog.strings[gap.before])) + ", then " +
         short_name(catalog.strings[gap.next->name]);
}

}  // namespace cli::rules
