// What rules of kernels share: some of a GPU's work is a rule's, and it sums how long that runs alone.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/rules/exposed_work.h"
#include "cli/answers/rules/host_activity.h"
#include "cli/answers/rules/rule.h"

namespace cli {

class WorkRule : public Rule {
 public:
  explicit WorkRule(const AnalysisContext& context) : context_(context), activity_(context.catalog), exposed_(context.windows) {}
  static ObserverNeeds needs() { return {.kinds = HostActivity::kinds()}; }

  void event(const Event& event, const Facts&) override { activity_.event(event); }
  void work(const GpuWork& work) override;
  void end_of(ProcessId process) override;
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override;

 protected:
  using Sum = ExposedWork::Sum;

  virtual bool is_own(const GpuWork& work) = 0;
  virtual bool fires(const Sum& sum, std::int64_t length_ns) const = 0;
  // Fills in title and advice, and what of the saving is less than all of it. Of the device that loses most.
  virtual void explain(const DiagnosisScope& scope, ProcessId most, std::int64_t device, const Sum& sum, Finding& finding) const = 0;
  // Of the process's work that is the rule's, that of which most runs.
  StringId longest(ProcessId process) const;

  const AnalysisContext& context_;

 private:
  HostActivity activity_;
  ExposedWork exposed_;
  std::map<std::pair<ProcessId, StringId>, std::int64_t> names_ns_;  // for ended processes only the longest
  LongestEvidence evidence_;
};

}  // namespace cli
