#include "cli/answers/rules/work_rule.h"

#include "cli/answers/rules/rule.h"
#include "cli/trace/short_name.h"

namespace cli::rules {

void WorkRule::work(const GpuWork& work) {
  const bool own = is_own(work);
  exposed_.add(work, own);
  if (!own) return;
  names_ns_[{work.process, work.name}] += work.end_ns - work.start_ns;
  evidence_.add(work.process, work.start_ns, work.end_ns, work.end_ns - work.start_ns, [&] {
    const std::string name = short_name(context_.catalog.strings[work.name]);
    return work.call == nullptr ? name : name + ", launched " + activity_.text(work.call->track, work.call->start_ns);
  });
}

void WorkRule::end_of(ProcessId process) {
  activity_.end_of(process);
  exposed_.end_of(process);
  const StringId longest_name = longest(process);
  const auto first = names_ns_.lower_bound({process, 0});
  names_ns_.erase(first, names_ns_.lower_bound({process, longest_name}));
  names_ns_.erase(names_ns_.upper_bound({process, longest_name}), names_ns_.lower_bound({process + 1, 0}));
}

std::vector<Finding> WorkRule::find(const DiagnosisScope& scope, const std::vector<ResultTable>&) {
  Fired fired;
  for (const auto& [device, sum] : exposed_.sums()) {
    if (sum.count > 0 && fires(sum, scope.time.lengths_ns[device.first]))
      fired.add(device.first, device.second, sum.exposed_ns);
  }
  if (fired.empty()) return {};
  Finding finding = fired.finding(scope, evidence_);
  explain(scope, fired.most, fired.device, exposed_.sums().at({fired.most, fired.device}), finding);
  return {finding};
}

StringId WorkRule::longest(ProcessId process) const {
  std::pair<std::int64_t, StringId> most{-1, 0};
  for (auto at = names_ns_.lower_bound({process, 0}); at != names_ns_.end() && at->first.first == process; ++at) {
    if (at->second > most.first) most = {at->second, at->first.second};
  }
  return most.second;
}

}  // namespace cli::rules
