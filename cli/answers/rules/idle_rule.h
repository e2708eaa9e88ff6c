// What rules of idle time share: each sums the idle time that it owns (gap_claims.h), by device.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/rules/gap_claims.h"
#include "cli/answers/rules/rule.h"

namespace cli::rules {

class IdleRule : public Rule {
 public:
  explicit IdleRule(const AnalysisContext& context) : context_(context) {}

  void claimed(const ClaimedGap& claim) override;
  void keep_without_optimizer(const std::vector<bool>& processes) override;
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override;

 protected:
  // Of all idle times of a device.
  struct Sum {
    std::int64_t ns = 0, longest_ns = 0, count = 0;
  };

  // The text of evidence.
  virtual std::string describe(const ClaimedGap& claim) const = 0;
  // Whether it is worth a finding, of this much time of the process.
  virtual bool fires(ProcessId process, const Sum& sum, std::int64_t length_ns) const = 0;
  // Fills in title and advice. `most`: of the rank that loses most.
  virtual void explain(const DiagnosisScope& scope, ProcessId most, const Sum& sum, Finding& finding) const = 0;

  const AnalysisContext& context_;

 private:
  struct Owned {
    std::map<std::pair<ProcessId, std::int64_t>, Sum> sums;  // by device
    LongestEvidence evidence;
  };
  Owned owned_, if_no_optimizer_;
};

// "aten::add, then Memcpy HtoD": the work before and after a gap, shortened.
std::string around_text(const Catalog& catalog, const DeviceGap& gap);

}  // namespace cli::rules
