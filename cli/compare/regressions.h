// Whether a run is slower than its baseline by more than is allowed: the step, and each class of kernels, apart.
#pragma once
#include <string>
#include <vector>

#include "cli/analyze/analysis_table.h"
#include "cli/compare/comparison.h"

namespace cli {

struct RegressionLimits {
  double most_pct = 0;         // more than that, and beyond the noise, is a regression
  double least_share_pct = 1;  // classes of less than that of the step are not judged, in both runs
};

// A class that only one of the runs has is not judged: the step says what it costs.
struct JudgedChange {
  Change change;
  bool is_step = false, regressed = false;
};

// The step, then classes, the longest of the baseline first. Of fewer than kFewestSteps steps a side none regressed.
std::vector<JudgedChange> judge_regressions(const Comparison& comparison, const RegressionLimits& limits);

// Classes that are large enough, and that only one of the runs has.
std::vector<std::string> classes_of_one_run(const Comparison& comparison, const RegressionLimits& limits);

bool any_regressed(const std::vector<JudgedChange>& judged);

// `all`: those that did not regress, too.
ResultTable regression_table(const std::vector<JudgedChange>& judged, bool all);

}  // namespace cli
