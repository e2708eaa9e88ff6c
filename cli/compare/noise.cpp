#include "cli/compare/noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/analyze/median.h"

namespace cli {
namespace {

// Of a normal distribution: of the median over that of the mean; of the standard deviation over the MAD; two-sided 99 %; and how
// many values a standard deviation needs that is as sure as a MAD of one.
constexpr double kMedianError = 1.2533, kMadScale = 1.4826, kZ99 = 2.5758, kMadEfficiency = 0.37;
constexpr double kMostAlike = 0.9;

double mad_of(std::vector<std::int64_t> sums, std::int64_t median_sum) {
  for (std::int64_t& sum : sums) sum = std::abs(sum - median_sum);
  return static_cast<double>(median(sums));
}

// In values by size, where the interval begins in which their median lies with 99 %: its rank is binomial.
std::size_t interval_begin(std::size_t steps) {
  const auto count = static_cast<double>(steps);
  return static_cast<std::size_t>(std::max(1.0, std::floor((count + 1) / 2 - kZ99 * std::sqrt(count / 4)))) - 1;
}

// By which the variance of a median is larger than of steps that know nothing of each other: that is the sum of the correlations of
// signs, which fall off as the first one's powers.
double alikeness(const std::vector<std::int64_t>& sums, std::int64_t median_sum) {
  const auto sign = [&](std::size_t i) { return sums[i] > median_sum ? 1.0 : sums[i] < median_sum ? -1.0 : 0.0; };
  double product = 0, square = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    square += sign(i) * sign(i);
    if (i > 0) product += sign(i) * sign(i - 1);
  }
  if (square == 0) return 1;
  const double of_neighbours = std::clamp(product / square - 1 / std::sqrt(static_cast<double>(sums.size())), 0.0, kMostAlike);
  return (1 + of_neighbours) / (1 - of_neighbours);
}

// The integral of cos^power between two angles, by Simpson's rule.
double cosine_integral(double power, double from, double to) {
  constexpr int kStrips = 120;
  const double width = (to - from) / kStrips;
  double sum = 0;
  for (int i = 0; i <= kStrips; ++i) {
    const double weight = i == 0 || i == kStrips ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::max(0.0, std::cos(from + i * width)), power);
  }
  return sum * width / 3;
}

}  // namespace

StepSample::StepSample(const std::vector<std::int64_t>& sums, std::int64_t gpus) : steps(sums.size()) {
  if (sums.empty()) return;
  const auto scale = static_cast<double>(std::max<std::int64_t>(gpus, 1));
  std::vector<std::int64_t> values = sums;
  const std::int64_t median_sum = cli::median(values);
  median = static_cast<double>(median_sum) / scale;
  double total = 0;
  for (const std::int64_t sum : sums) {
    total += static_cast<double>(sum);
    never = never && sum == 0;
  }
  mean = total / scale / static_cast<double>(steps);
  const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
  least = static_cast<double>(*low) / scale;
  most = static_cast<double>(*high) / scale;
  if (!has_noise()) return;
  const auto count = static_cast<double>(steps);
  std::sort(values.begin(), values.end());
  const std::size_t outmost = interval_begin(steps);
  below = median - static_cast<double>(values[outmost]) / scale;
  above = static_cast<double>(values[steps - 1 - outmost]) / scale - median;
  // McKean and Schrader, A comparison of methods for studentizing the sample median (1984).
  const double of_ranks = (above + below) / (2 * kZ99);
  const double of_mad = kMedianError * kMadScale * mad_of(sums, median_sum) / std::sqrt(count) / scale;
  error = std::max(of_mad, of_ranks) * std::sqrt(alikeness(sums, median_sum));
  error = std::max(error, kLeastError * std::abs(median));
  freedom = kMadEfficiency * (count - 1);
}

// With t = sqrt(freedom) x tan(angle) its density is that of cos^(freedom - 1).
double student_quantile(double chance, double freedom) {
  constexpr double kMostFreedom = 400;  // of more it is that of a normal distribution
  freedom = std::clamp(freedom, 1.0, kMostFreedom);
  constexpr double kRight = std::numbers::pi / 2;
  const double whole = cosine_integral(freedom - 1, 0, kRight);
  double low = 0, high = kRight;
  for (int i = 0; i < 36; ++i) {
    const double middle = (low + high) / 2;
    (cosine_integral(freedom - 1, middle, kRight) > chance * whole ? low : high) = middle;
  }
  return std::sqrt(freedom) * std::tan((low + high) / 2);
}

std::optional<double> noise_of(const StepSample& a, const StepSample& b, std::size_t judged) {
  if (!a.has_noise() || !b.has_noise()) return std::nullopt;
  const double of_a = a.error * a.error, of_b = b.error * b.error;
  if (of_a + of_b == 0) return 0.0;
  // Welch and Satterthwaite.
  const double freedom = (of_a + of_b) * (of_a + of_b) / (of_a * of_a / a.freedom + of_b * of_b / b.freedom);
  const double quantile = student_quantile(kFalseWord / static_cast<double>(std::max<std::size_t>(judged, 1)), freedom);
  const bool more = b.median > a.median;
  return std::max({std::sqrt(of_a + of_b) * quantile, more ? a.above : a.below, more ? b.below : b.above});
}

bool differ(const StepSample& a, const StepSample& b, const std::optional<double>& noise) {
  if (noise) return std::abs(b.median - a.median) > *noise;
  return a.most < b.least || b.most < a.least;
}

}  // namespace cli
