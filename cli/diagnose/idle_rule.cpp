#include "cli/diagnose/idle_rule.h"

#include <algorithm>

#include "cli/diagnose/fired.h"
#include "cli/model/short_name.h"

namespace cli {

void IdleRule::event(const Event& event, const Facts&) {
  activity_.event(event);
  gaps_.event(event, context_.catalog.tracks[event.track].process);
}

void IdleRule::work(const GpuWork& work) {
  std::optional<HostWait> wait;
  const auto gap = gaps_.work(work, wait);
  if (!gap || gap->from_ns == kEarliest_ns) return;
  const auto& windows = context_.windows.of(gap->process);
  for (std::size_t i = context_.windows.first_after(gap->process, gap->from_ns); i < windows.size() && windows[i].from_ns < gap->to_ns; ++i) {
    const std::int64_t from_ns = std::max(gap->from_ns, windows[i].from_ns), to_ns = std::min(gap->to_ns, windows[i].to_ns);
    const std::int64_t ns = share_of(*gap, from_ns, to_ns);
    if (ns <= 0) continue;
    Sum& sum = sums_[{gap->process, gap->device}];
    sum.ns += ns;
    ++sum.count;
    evidence_.add(gap->process, from_ns, to_ns, ns, [&] { return describe(*gap); });
  }
}

std::vector<Finding> IdleRule::find(const DiagnosisScope& scope, const std::vector<ResultTable>&) {
  Fired fired;
  const Sum* most = nullptr;
  for (const auto& [device, sum] : sums_) {
    if (!fires(device.first, sum, scope.time.lengths_ns[device.first])) continue;
    if (sum.ns > fired.most_ns) most = &sum;
    fired.add(device.first, device.second, sum.ns);
  }
  if (fired.empty()) return {};
  Finding finding = fired.finding(scope, evidence_);
  explain(scope, fired.most, *most, finding);
  return {finding};
}

std::string around_text(const Catalog& catalog, const DeviceGap& gap) {
  return short_name(catalog.strings[gap.before]) + ", then " + short_name(catalog.strings[gap.next->name]);
}

}  // namespace cli
