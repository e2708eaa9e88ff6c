// Whether the medians of two sets of steps differ by more than their steps do among themselves.
//
// The standard error of a median is the larger of two estimates that no outlier moves: 1.2533 x 1.4826 x MAD / sqrt(n), which is
// right where most values are normal, and that of McKean and Schrader, from the values around the median, which is right of
// several speeds, too. Steps that follow each other may be alike: of the signs of the distances from the median, what of the
// correlation of neighbours is above what chance shows widens it. At least kLeastError of the median: no clock and no GPU repeats itself better.
//
// The noise of a difference is the joint standard error times a quantile of Student's distribution (of as many degrees of freedom
// as a MAD of so many steps has), so that of all quantities that are judged together one is falsely called different with a
// chance of kFalseWord. It is at least what keeps each median out of the interval in which the other one lies with 99 %, whatever the
// distribution of its steps: between two values as many ranks below the median as above it. It knows what differs between the steps of a run, not what differs between two runs as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cli {

inline constexpr std::size_t kFewestSteps = 8;  // of a side: of fewer, no noise is known
inline constexpr double kFalseWord = 0.01, kLeastError = 0.0002;

// A quantity over the steps of a run: of each, the mean over its GPUs, which is the sum over `gpus`.
struct StepSample {
  std::size_t steps = 0;
  double median = 0, mean = 0;
  double least = 0, most = 0;
  double error = 0, freedom = 0;  // of the median; of kFewestSteps or more
  bool never = true;              // 0 in all steps

  // `sums` in the order of the steps.
  StepSample(const std::vector<std::int64_t>& sums, std::int64_t gpus);
  bool has_noise() const { return steps >= kFewestSteps; }
  double below = 0, above = 0;    // how far the interval of the median reaches
};

// x such that a value of Student's distribution is above x or below -x with this chance. freedom >= 1.
double student_quantile(double chance, double freedom);

// Of `judged` quantities together. Empty: a side has too few steps.
std::optional<double> noise_of(const StepSample& a, const StepSample& b, std::size_t judged);

// By noise where it is known; else no step of one side lies among those of the other.
bool differ(const StepSample& a, const StepSample& b, const std::optional<double>& noise);

}  // namespace cli
