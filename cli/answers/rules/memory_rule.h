// Base of the rules about memory. They judge the rows of the table memory, one per device of a rank.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/rules/rule.h"

namespace cli::rules {

// A row of the table; unknown values are empty.
struct DeviceMemory {
  std::int64_t rank = -1;
  std::int64_t device = -1;
  std::optional<std::int64_t> device_bytes;  // memory of the GPU
  std::optional<std::int64_t> peak_bytes, end_bytes, reserved_peak_bytes, growth_bytes_per_step, grew_in_steps,
      peak_step;
  std::int64_t peak_at_ns = 0;  // since the start of the trace; valid if the peak is known
  std::int64_t steps = 0;
};

class MemoryRule : public Rule {
 public:
  explicit MemoryRule(const AnalysisContext& context) : context_(context) {}
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override;

 protected:
  // Returns how severe the problem is; empty if there is none. The finding describes the worst device.
  virtual std::optional<double> judge(const DeviceMemory& memory) const = 0;
  // Sets title and advice.
  virtual void explain(const DiagnosisScope& scope, const DeviceMemory& worst, Finding& finding) const = 0;

 private:
  const AnalysisContext& context_;
};

}  // namespace cli::rules
