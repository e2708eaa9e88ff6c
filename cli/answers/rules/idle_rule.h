// Base of the rules about idle time. Sums the idle time that the rule owns (gap_claims.h), per device.
#pragma once
#include "cli/answers/rules/rule.h"

namespace cli::rules {

class IdleRule : public Rule {
 public:
  // The rule fires for a device if its idle time is more than 1 / `share` of the diagnosed time.
  IdleRule(const AnalysisContext& context, std::int64_t share) : Rule(context), share_(share) {}

  void claimed(const ClaimedGap& claim) override {
    Owned& owned = claim.if_no_optimizer ? if_no_optimizer_ : owned_;
    Sum& sum = owned.sums[{claim.gap.process, claim.gap.device}];
    sum.ns += claim.ns;
    sum.longest_ns = std::max(sum.longest_ns, claim.ns);
    ++sum.count;
    owned.evidence.add(claim.gap.process, claim.from_ns, claim.to_ns, claim.ns, [&] { return describe(claim); });
  }
  void keep_without_optimizer(const std::vector<bool>& processes) override {
    for (const auto& [device, more] : if_no_optimizer_.sums) {
      if (!processes[device.first]) continue;
      Sum& sum = owned_.sums[device];
      sum.ns += more.ns;
      sum.longest_ns = std::max(sum.longest_ns, more.longest_ns);
      sum.count += more.count;
    }
    owned_.evidence.take(std::move(if_no_optimizer_.evidence), processes);
  }
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
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

 protected:
  // Over all claimed idle times of a device.
  struct Sum {
    std::int64_t ns = 0, longest_ns = 0, count = 0;
  };

  // Returns the text of the evidence.
  virtual std::string describe(const ClaimedGap& claim) const = 0;
  // Returns true if the sum is worth a finding, given the process's diagnosed time `length_ns`.
  virtual bool fires(ProcessId, const Sum& sum, std::int64_t length_ns) const { return sum.ns > length_ns / share_; }
  // Sets title and advice. `most` is the process that loses most, `sum` is its sum.
  virtual void explain(const DiagnosisScope& scope, ProcessId most, const Sum& sum, Finding& finding) const = 0;

 private:
  struct Owned {
    std::map<std::pair<ProcessId, std::int64_t>, Sum> sums;  // by device
    LongestEvidence evidence;
  };
  const std::int64_t share_;
  Owned owned_, if_no_optimizer_;
};

// Returns the shortened names of the work before and after a gap: "aten::add, then Memcpy HtoD".
inline std::string around_text(const Catalog& catalog, const DeviceGap& gap) {
  return (gap.from_ns == kEarliest_ns ? "no work" : short_name(catalog.strings[gap.before])) + ", then " +
         short_name(catalog.strings[gap.next->name]);
}

}  // namespace cli::rules
