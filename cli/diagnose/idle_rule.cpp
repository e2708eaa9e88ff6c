#include "cli/diagnose/idle_rule.h"

#include <algorithm>

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
  Finding finding;
  std::vector<ProcessId> processes;
  std::pair<ProcessId, Sum> most{};
  for (const auto& [device, sum] : sums_) {
    const ProcessId id = device.first;
    if (!fires(id, sum, scope.time.lengths_ns[id])) continue;
    if (processes.empty() || processes.back() != id) processes.push_back(id);
    if (sum.ns > most.second.ns) most = {id, sum};
  }
  if (processes.empty()) return {};
  for (const ProcessId id : processes) finding.ranks.push_back(scope.rank(id));
  finding.saving_ns = most.second.ns;
  finding.evidence = evidence_.of(scope, processes);
  explain(scope, most.first, most.second, finding);
  return {finding};
}

std::string around_text(const Catalog& catalog, const DeviceGap& gap) {
  return short_name(catalog.strings[gap.before]) + ", then " + short_name(catalog.strings[gap.next->name]);
}

}  // namespace cli
