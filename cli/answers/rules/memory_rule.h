// What rules of memory share: they judge the rows of the table memory, a device of a rank each.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/rules/rule.h"

namespace cli::rules {

// A row of the table; what is not known is empty.
struct DeviceMemory {
  std::int64_t rank = -1;
  std::int64_t device = -1;
  std::optional<std::int64_t> device_bytes;  // that the GPU has
  std::optional<std::int64_t> peak_bytes, end_bytes, reserved_peak_bytes, growth_bytes_per_step, grew_in_steps, peak_step;
  std::int64_t peak_at_ns = 0;  // since the start of the trace; where the peak is known
  std::int64_t steps = 0;
};

class MemoryRule : public Rule {
 public:
  explicit MemoryRule(const AnalysisContext& context) : context_(context) {}
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override;

 protected:
  // How bad it is; of the worst device the finding tells. Empty: nothing is wrong.
  virtual std::optional<double> judge(const DeviceMemory& memory) const = 0;
  // Fills in title and advice.
  virtual void explain(const DiagnosisScope& scope, const DeviceMemory& worst, Finding& finding) const = 0;

 private:
  const AnalysisContext& context_;
};

}  // namespace cli::rules
