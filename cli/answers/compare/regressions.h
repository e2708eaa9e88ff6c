// Whether a run is slower than its baseline by more than is allowed: the step, each class of kernels, and the launches of each compute kernel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/answers/compare/comparison.h"

namespace cli::comparison {

struct RegressionLimits {
  double most_pct = 0;         // a regression takes longer by more than that, and by more than the noise
  double least_share_pct = 1;  // classes and kernels below that share of the step, in both runs, are not judged
};

enum class JudgedWhat : std::uint8_t { step, work_class, kernel };

// passed: with 95 % it does not take longer by more than the limit. unclear: neither that nor a regression.
enum class Judgement : std::uint8_t { passed, regressed, unclear };

// Both runs have it; the step says what a class of one run costs.
struct JudgedChange {
  Change change;
  JudgedWhat what = JudgedWhat::step;
  Judgement judgement = Judgement::unclear;
  std::optional<double> detectable_pct;  // the smallest change that would be a regression; empty: too few steps

  double relative_pct() const { return 100 * change.difference_ns() / change.a.median; }
};

struct Judgements {
  std::vector<JudgedChange> changes;  // the step, then classes, then kernels, those that take most of the baseline's step first
  Judgement verdict = Judgement::unclear;
};

// regressed: something did, falsely in one of 100 comparisons of runs that do not differ: half of that chance is the step's, the rest is shared by all others.
// passed: nothing did, the step passed, or classes or kernels with more than half of the compute time did, and nothing unclear seems to make the step
// longer by more than the limit.
Judgements judge_regressions(const Comparison& comparison, const RegressionLimits& limits);

// Classes that are large enough, and that only one of the runs has.
std::vector<std::string> classes_of_one_run(const Comparison& comparison, const RegressionLimits& limits);

// Kernels of a class that regressed say nothing new and are omitted.
ResultTable regressed_table(const Judgements& judgements);

// All that was judged: the step and classes; kernels.
std::vector<ResultTable> judged_tables(const Judgements& judgements);

// "a change of 2.1 % would have been detected in the step, of 1.5 to 4 % in 3 classes". Empty: too few steps.
std::string seen_text(const Judgements& judgements);

}  // namespace cli::comparison
