// Estimates by how much two runs of one program may differ, from the variation among the steps of each run.
//
// Compares medians if each side has at least kFewestForMedian steps, otherwise means, because a median of few steps is
// uncertain.
//
// Standard error of a median: the larger of two estimates that are robust against outliers, 1.2533 x 1.4826 x MAD /
// sqrt(n) and the one of McKean and Schrader from the values around the median, which also holds for steps with several
// speeds. Standard error of a mean: from the pooled standard deviation of both sides, because the steps of two runs of
// one program vary alike.
//
// Consecutive steps may be correlated, for example because a clock drifts. Then n steps contain less information than n
// independent ones, and their spread is smaller than the drift. Steps are modelled as a first-order autoregressive
// series. `dependence` is the correlation of consecutive steps (kMostDependence if there are too few steps to measure
// it), and widening() is the factor by which the standard error grows.
//
// The noise is the joint standard error times a quantile of Student's distribution. For medians it is at least large
// enough that each median lies outside the other's 99 % confidence interval, by ranks alone. Differences between two
// runs as a whole are not part of this estimate.
#pragma once
#include "cli/answers/compare/run_profile.h"
#include "cli/answers/tables/analysis.h"

namespace cli::comparison {

// Selects the steps of a run to compare: complete on every rank, and after the warm-up.
class KeptSteps {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Sets steps, warm_up and not_everywhere of `profile` if `context` is the first one to construct it. With `whole`,
  // steps are not used.
  KeptSteps(const AnalysisContext& context, bool whole, RunProfile& profile);

  const Windows& windows() const { return windows_; }
  bool whole() const { return whole_; }
  // Returns the index of this window in RunProfile::steps.
  std::size_t place(ProcessId process, std::size_t window) const { return places_[process][window]; }
  // Returns the process's window of a step; its number of windows if it has none.
  std::size_t window_of(ProcessId process, std::size_t place) const;
  // Returns true if the process has steps, or is compared as a whole.
  bool takes_part(ProcessId process) const { return takes_part_[process]; }

 private:
  void choose(const AnalysisContext& context, RunProfile& profile) const;

  bool whole_;
  Windows windows_;
  std::vector<bool> takes_part_;
  std::vector<std::vector<std::size_t>> places_;  // by process and window; kNone if excluded
};

// Minimum number of steps per side. Below kFewestSteps the noise cannot be measured and is only bounded; below
// kFewestBounded it is unknown. Below kFewestForMedian the 99 % interval of a median is the whole range.
inline constexpr std::size_t kFewestSteps = 8, kFewestBounded = 3, kFewestForMedian = 12;
// kFalseWord: the chance of one false verdict in a comparison. kLeastError: the smallest relative standard error; no
// clock and no GPU repeats itself better. kMostDependence: the strongest correlation of consecutive steps that is
// accounted for.
inline constexpr double kFalseWord = 0.01, kLeastError = 0.0002, kMostDependence = 0.9;

// A quantity over the steps of a run. Its value in a step is the mean over the GPUs: the sum divided by `gpus`.
struct StepSample {
  std::size_t steps = 0;
  double median = 0, mean = 0, deviation = 0;
  double least = 0, most = 0;
  // Standard error of the median, widened by the correlation of consecutive steps; from kFewestSteps steps on
  double error = 0, freedom = 0;
  double widest_error = 0;              // the same, widened by `dependence`
  double dependence = kMostDependence;  // upper estimate of the correlation of neighbouring steps
  bool never = true;                    // 0 in all steps
  double below = 0, above = 0;          // distance from the median to the ends of its interval

  // `sums` has one value per step, in order.
  StepSample(const std::vector<std::int64_t>& sums, std::int64_t gpus);
  bool has_noise() const { return steps >= kFewestSteps; }
};

// Returns x such that a value of Student's distribution is above x or below -x with this probability. Requires freedom
// >= 1.
double student_quantile(double chance, double freedom);

// Returns the standard error of a mean of n steps, as a multiple of deviation / sqrt(n), for this correlation of
// consecutive steps.
double widening(std::size_t steps, double dependence);

// Returns b - a of the medians or of the means.
double difference_of(const StepSample& a, const StepSample& b);

// Returns the value that |difference_of()| exceeds with this probability if the runs do not differ. `resolution_ns` is
// the smallest measurable difference. Empty if a side has fewer than kFewestBounded steps.
std::optional<double> noise_of(const StepSample& a, const StepSample& b, double chance, double resolution_ns = 0);

// Returns a margin: with 95 % confidence the difference is below difference_of() + margin_of(), given the estimated
// correlation of steps. Empty like noise_of().
std::optional<double> margin_of(const StepSample& a, const StepSample& b, double resolution_ns = 0);

// Returns true if the difference exceeds the noise. If the noise is only bounded or unknown, returns true if the value
// ranges of both sides are disjoint.
bool differ(const StepSample& a, const StepSample& b, const std::optional<double>& noise);

}  // namespace cli::comparison
