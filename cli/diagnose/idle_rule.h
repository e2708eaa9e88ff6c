// What rules of idle time share: they are told each time for which a device idled between two pieces of work (device_gaps.h), and sum
// what of it is theirs.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/analyze/device_gaps.h"
#include "cli/diagnose/host_activity.h"
#include "cli/diagnose/longest_evidence.h"
#include "cli/diagnose/rule.h"

namespace cli {

class IdleRule : public Rule {
 public:
  explicit IdleRule(const AnalysisContext& context) : context_(context), activity_(context.catalog), gaps_(context.catalog) {}
  static ObserverNeeds needs() { return {.kinds = HostActivity::kinds(), .any_time = true}; }

  void event(const Event& event, const Facts& facts) override;
  void work(const GpuWork& work) override;
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override;

 protected:
  // Of all idle times of a device.
  struct Sum {
    std::int64_t ns = 0, count = 0;
  };

  // How many ns of [from_ns, to_ns) of the gap are this rule's. The next work is known.
  virtual std::int64_t share_of(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) = 0;
  virtual std::string describe(const DeviceGap& gap) const = 0;
  // Whether it is worth a finding, of this much time of the process.
  virtual bool fires(ProcessId process, const Sum& sum, std::int64_t length_ns) const = 0;
  // Fills in title and advice. `most`: of the rank that loses most.
  virtual void explain(const DiagnosisScope& scope, ProcessId most, const Sum& sum, Finding& finding) const = 0;

  const AnalysisContext& context_;
  HostActivity activity_;
  DeviceGaps gaps_;

 private:
  std::map<std::pair<ProcessId, std::int64_t>, Sum> sums_;  // by device
  LongestEvidence evidence_;
};

// "aten::add, then Memcpy HtoD": the work before and behind a gap, shortened.
std::string around_text(const Catalog& catalog, const DeviceGap& gap);

}  // namespace cli
