// Checks whether a run is slower than its baseline by more than the limit: the step, each class of kernels, and the
// launches of each compute kernel.
#pragma once
#include "cli/answers/compare/comparison.h"

namespace cli::comparison {

struct RegressionLimits {
  double most_pct = 0;         // a regression takes longer by more than this and by more than the noise
  double least_share_pct = 1;  // classes and kernels below this share of the step in both runs are not judged
};

enum class JudgedWhat : std::uint8_t { step, work_class, kernel };

// passed: with 95 % confidence not slower by more than the limit. unclear: neither passed nor regressed.
enum class Judgement : std::uint8_t { passed, regressed, unclear };

// A quantity that both runs have. The cost of a class that only one run has shows up in the step.
struct JudgedChange {
  Change change;
  JudgedWhat what = JudgedWhat::step;
  Judgement judgement = Judgement::unclear;
  // The smallest change that would be detected as a regression; empty if there are too few steps
  std::optional<double> detectable_pct;

  double relative_pct() const { return 100 * change.difference_ns() / change.a.median; }
};

struct Judgements {
  // The step, then classes, then kernels; the largest share of the baseline's step first
  std::vector<JudgedChange> changes;
  Judgement verdict = Judgement::unclear;
};

// regressed: something regressed. This is false in one of 100 comparisons of equal runs; half of that chance is the
// step's, and all other quantities share the rest. passed: nothing regressed; the step passed, or classes or kernels
// with more than half of the compute time did; and nothing unclear seems to make the step longer by more than the
// limit.
Judgements judge_regressions(const Comparison& comparison, const RegressionLimits& limits);

// Returns the classes that are large enough to judge but exist in only one of the runs.
std::vector<std::string> classes_of_one_run(const Comparison& comparison, const RegressionLimits& limits);

// Returns what regressed. Omits kernels of a class that regressed, because they add no information.
ResultTable regressed_table(const Judgements& judgements);

// Returns all that was judged in two tables: the step and classes; kernels.
std::vector<ResultTable> judged_tables(const Judgements& judgements);

// Returns, for example, "a change of 2.1 % would have been detected in the step, of 1.5 to 4 % in 3 classes". Empty if
// there are too few steps.
std::string seen_text(const Judgements& judgements);

}  // namespace cli::comparison
