// How much two runs of one program may differ, judged by how much the steps of each run differ among themselves.
//
// What is compared: medians from kFewestForMedian steps a side on, means below that, because a median of few steps is uncertain.
//
// Standard error of a median: the larger of two estimates that no outlier moves, 1.2533 x 1.4826 x MAD / sqrt(n) and that of McKean and
// Schrader, from the values around the median, which also holds for steps of several speeds. Standard error of a mean: from the standard
// deviation of both sides together, because the steps of two runs of one program vary alike.
//
// Neighbouring steps may be alike, for example because a clock drifts: then n steps say less than n independent ones, and their spread is
// smaller than the drift. Steps are assumed to be an autoregressive series of the first order. `dependence` is the correlation of
// neighbours, kMostDependence where there are too few steps to measure it, and widening() is by how much the standard error grows.
//
// The noise is the joint standard error times a quantile of Student's distribution. For medians it is at least what keeps each median out of
// the interval in which the other one lies with 99 %, by ranks alone. It does not know what differs between two runs as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "cli/answers/compare/run_profile.h"
#include "cli/answers/tables/analysis.h"

namespace cli::comparison {

// Which steps of a run are compared: those that every rank has as a whole, but the first ones, which are warm-up.
class KeptSteps {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Of `profile`: steps, warm_up and not_everywhere, where `context` is the first that asks. `whole`: steps are not asked for.
  KeptSteps(const AnalysisContext& context, bool whole, RunProfile& profile);

  const Windows& windows() const { return windows_; }
  bool whole() const { return whole_; }
  // The place of this window in RunProfile::steps.
  std::size_t place(ProcessId process, std::size_t window) const { return places_[process][window]; }
  // Of a step of the process; its number of windows: it has none.
  std::size_t window_of(ProcessId process, std::size_t place) const;
  // The process has steps, or is looked at as a whole.
  bool takes_part(ProcessId process) const { return takes_part_[process]; }

 private:
  void choose(const AnalysisContext& context, RunProfile& profile) const;

  bool whole_;
  Windows windows_;
  std::vector<bool> takes_part_;
  std::vector<std::vector<std::size_t>> places_;  // by process and window; kNone: it is left out
};

// Steps of a side. Below kFewestSteps the noise cannot be measured, and is only bounded; below kFewestBounded it is unknown. The interval of a median
// that has 99 % is the whole range below kFewestForMedian.
inline constexpr std::size_t kFewestSteps = 8, kFewestBounded = 3, kFewestForMedian = 12;
// The chance of one false verdict in a comparison; the least relative standard error: no clock and no GPU repeats itself better; the strongest correlation of neighbouring
// steps that is accounted for.
inline constexpr double kFalseWord = 0.01, kLeastError = 0.0002, kMostDependence = 0.9;

// A quantity over the steps of a run: in each step the mean over its GPUs, which is the sum divided by `gpus`.
struct StepSample {
  std::size_t steps = 0;
  double median = 0, mean = 0, deviation = 0;
  double least = 0, most = 0;
  double error = 0, freedom = 0;         // standard error of the median, widened as far as neighbouring steps look alike; from kFewestSteps steps on
  double widest_error = 0;               // the same, widened by `dependence`
  double dependence = kMostDependence;   // upper estimate of the correlation of neighbouring steps
  bool never = true;                     // 0 in all steps
  double below = 0, above = 0;           // how far the interval of the median reaches

  // `sums` in the order of the steps.
  StepSample(const std::vector<std::int64_t>& sums, std::int64_t gpus);
  bool has_noise() const { return steps >= kFewestSteps; }
};

// x such that a value of Student's distribution is above x or below -x with this chance. freedom >= 1.
double student_quantile(double chance, double freedom);

// The standard error of a mean of n steps, as a multiple of deviation / sqrt(n), if neighbouring steps correlate like this.
double widening(std::size_t steps, double dependence);

// b - a, of the medians or of the means.
double difference_of(const StepSample& a, const StepSample& b);

// What difference_of() exceeds, up or down, with this chance if the runs do not differ. `resolution_ns`: no smaller difference can be
// seen. Empty if a side has fewer than kFewestBounded steps.
std::optional<double> noise_of(const StepSample& a, const StepSample& b, double chance, double resolution_ns = 0);

// The difference is below difference_of() + margin_of() with 95 %, if steps depend on each other as much as they look. Empty like noise_of().
std::optional<double> margin_of(const StepSample& a, const StepSample& b, double resolution_ns = 0);

// Beyond the noise; where it is only bounded or unknown: no step of one side lies among those of the other.
bool differ(const StepSample& a, const StepSample& b, const std::optional<double>& noise);

}  // namespace cli::comparison
