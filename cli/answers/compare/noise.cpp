#include "cli/answers/compare/noise.h"

#include <numbers>
#include <numeric>

#include "cli/answers/tables/whole_steps.h"

namespace cli::comparison {

namespace {

std::set<std::int64_t> warm_up_numbers(const AnalysisContext& context) {
  std::set<std::int64_t> numbers;
  for (ProcessId id = 0; id < context.steps_found.size(); ++id) {
    if (!context.chosen[id]) continue;
    const std::vector<Step>& steps = context.steps_found[id].steps;
    const std::size_t count = warm_up_steps(steps);
    for (std::size_t i = 0; i < count; ++i) numbers.insert(steps[i].number);
  }
  return numbers;
}

}  // namespace

KeptSteps::KeptSteps(const AnalysisContext& context, bool whole, RunProfile& profile)
    : whole_(whole),
      windows_(whole ? context.windows : whole_steps(context)),
      takes_part_(context.catalog.processes.size()) {
  for (ProcessId id = 0; id < takes_part_.size(); ++id)
    takes_part_[id] = context.chosen[id] && (whole || !windows_.of(id).empty());
  if (profile.steps.empty()) choose(context, profile);
  std::map<std::int64_t, std::size_t> place_of;
  for (std::size_t place = 0; place < profile.steps.size(); ++place) place_of[profile.steps[place]] = place;
  places_.resize(takes_part_.size());
  for (ProcessId id = 0; id < takes_part_.size(); ++id) {
    std::set<std::size_t> taken;  // if several steps have one number, the first counts
    for (const AnalysisWindow& window : windows_.of(id)) {
      const auto found = place_of.find(window.step.value_or(0));
      const bool is_kept = takes_part_[id] && found != place_of.end() && (whole_ || taken.insert(found->second).second);
      places_[id].push_back(is_kept ? found->second : kNone);
    }
  }
}

void KeptSteps::choose(const AnalysisContext& context, RunProfile& profile) const {
  if (whole_) {
    profile.steps = {0};
    return;
  }
  const std::set<std::int64_t> warm_up = warm_up_numbers(context);
  std::map<std::int64_t, std::size_t> having;  // number of processes, by step number
  std::size_t processes = 0;
  std::set<std::int64_t> left_out;
  for (ProcessId id = 0; id < takes_part_.size(); ++id) {
    if (!takes_part_[id]) continue;
    ++processes;
    std::set<std::int64_t> numbers;
    for (const AnalysisWindow& window : windows_.of(id)) numbers.insert(window.step.value_or(0));
    for (const std::int64_t number : numbers)
      warm_up.contains(number) ? void(left_out.insert(number)) : void(++having[number]);
  }
  profile.warm_up.assign(left_out.begin(), left_out.end());
  for (const auto& [number, count] : having) {
    if (count == processes) profile.steps.push_back(number);
  }
  profile.not_everywhere = having.size() - profile.steps.size();
}

std::size_t KeptSteps::window_of(ProcessId process, std::size_t place) const {
  const auto& places = places_[process];
  return static_cast<std::size_t>(std::find(places.begin(), places.end(), place) - places.begin());
}

namespace {

// Constants of a normal distribution: standard error of the median relative to that of the mean; standard deviation /
// MAD; two-sided 99 % quantile; and the efficiency of the MAD relative to the standard deviation.
constexpr double kMedianError = 1.2533, kMadScale = 1.4826, kZ99 = 2.5758, kMadEfficiency = 0.37;

double mad_of(std::vector<std::int64_t> sums, std::int64_t median_sum) {
  for (std::int64_t& sum : sums) sum = std::abs(sum - median_sum);
  return static_cast<double>(median(sums));
}

// Returns the rank, among the sorted values, at which the 99 % interval of their median begins. The rank is binomial.
std::size_t interval_begin(std::size_t steps) {
  const auto count = static_cast<double>(steps);
  return static_cast<std::size_t>(std::max(1.0, std::floor((count + 1) / 2 - kZ99 * std::sqrt(count / 4)))) - 1;
}

// Returns the factor by which the variance of a median exceeds that for independent steps: the sum of the correlations
// of signs, which decrease as powers of the first one.
double alikeness(const std::vector<std::int64_t>& sums, std::int64_t median_sum) {
  const auto sign = [&](std::size_t i) { return sums[i] > median_sum ? 1.0 : sums[i] < median_sum ? -1.0 : 0.0; };
  double product = 0, square = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    square += sign(i) * sign(i);
    if (i > 0) product += sign(i) * sign(i - 1);
  }
  if (square == 0) return 1;
  const double of_neighbours =
      std::clamp(product / square - 1 / std::sqrt(static_cast<double>(sums.size())), 0.0, kMostDependence);
  return (1 + of_neighbours) / (1 - of_neighbours);
}

// Returns the rank correlation of consecutive steps, corrected for bias (Kendall 1954: -(1 + 4 r) / n), plus one
// standard error.
double dependence_of(const std::vector<std::int64_t>& sums) {
  const std::size_t steps = sums.size();
  if (steps < kFewestForMedian) return kMostDependence;
  std::vector<std::size_t> order(steps);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return sums[x] < sums[y]; });
  std::vector<double> rank(steps);  // relative to their mean; equal values have equal ranks
  for (std::size_t i = 0, end = 0; i < steps; i = end) {
    while (end < steps && sums[order[end]] == sums[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k)
      rank[order[k]] = (static_cast<double>(i + end) - static_cast<double>(steps)) / 2;
  }
  double product = 0, square = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    square += rank[i] * rank[i];
    if (i > 0) product += rank[i] * rank[i - 1];
  }
  if (square == 0) return 0;
  const auto count = static_cast<double>(steps);
  return std::clamp((product / square + 1 / count + 1 / std::sqrt(count)) / (1 - 4 / count), 0.0, kMostDependence);
}

bool by_means(const StepSample& a, const StepSample& b) { return std::min(a.steps, b.steps) < kFewestForMedian; }

struct MeanError {
  double error, freedom;
};

// For the difference of two means.
MeanError error_of_means(const StepSample& a, const StepSample& b, double dependence_a, double dependence_b) {
  const auto of_a = static_cast<double>(a.steps), of_b = static_cast<double>(b.steps);
  const double freedom = of_a + of_b - 2;
  const double variance = ((of_a - 1) * a.deviation * a.deviation + (of_b - 1) * b.deviation * b.deviation) / freedom;
  const double wide_a = widening(a.steps, dependence_a), wide_b = widening(b.steps, dependence_b);
  const double least = kLeastError * std::abs(a.mean);
  return {std::max(std::sqrt(variance), least) * std::sqrt(wide_a * wide_a / of_a + wide_b * wide_b / of_b), freedom};
}

// For the difference of two medians, after Welch and Satterthwaite.
MeanError error_of_medians(const StepSample& a, const StepSample& b, double error_a, double error_b) {
  const double of_a = error_a * error_a, of_b = error_b * error_b;
  if (of_a + of_b == 0) return {0, 1};
  return {std::sqrt(of_a + of_b), (of_a + of_b) * (of_a + of_b) / (of_a * of_a / a.freedom + of_b * of_b / b.freedom)};
}

// Integrates cos^power between two angles by Simpson's rule.
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
  const auto count = static_cast<double>(steps);
  double total = 0, squares = 0;
  for (const std::int64_t sum : sums) {
    total += static_cast<double>(sum);
    never = never && sum == 0;
  }
  mean = total / scale / count;
  for (const std::int64_t sum : sums) squares += std::pow(static_cast<double>(sum) / scale - mean, 2);
  if (steps > 1) deviation = std::sqrt(squares / (count - 1));
  const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
  least = static_cast<double>(*low) / scale;
  most = static_cast<double>(*high) / scale;
  dependence = dependence_of(sums);
  if (!has_noise()) return;
  std::sort(values.begin(), values.end());
  const std::size_t outmost = interval_begin(steps);
  below = median - static_cast<double>(values[outmost]) / scale;
  above = static_cast<double>(values[steps - 1 - outmost]) / scale - median;
  // McKean and Schrader, A comparison of methods for studentizing the sample median (1984).
  const double of_ranks = (above + below) / (2 * kZ99);
  const double of_mad = kMedianError * kMadScale * mad_of(sums, median_sum) / std::sqrt(count) / scale;
  error = std::max(std::max(of_mad, of_ranks) * std::sqrt(alikeness(sums, median_sum)), kLeastError * std::abs(median));
  widest_error = std::max(error, std::max(of_mad, of_ranks) * widening(steps, dependence));
  freedom = kMadEfficiency * (count - 1);
}

// Substituting t = sqrt(freedom) x tan(angle) makes the density proportional to cos^(freedom - 1).
double student_quantile(double chance, double freedom) {
  constexpr double kMostFreedom = 400;  // beyond it, the distribution is treated as normal
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

double widening(std::size_t steps, double dependence) {
  const auto count = static_cast<double>(steps);
  if (steps < 2 || dependence <= 0) return 1;
  // The mean correlation of two different steps.
  const double mean = 2 * dependence * (count * (1 - dependence) - (1 - std::pow(dependence, count))) /
                      ((1 - dependence) * (1 - dependence) * count * (count - 1));
  return std::sqrt((1 + (count - 1) * mean) / (1 - mean));
}

double difference_of(const StepSample& a, const StepSample& b) {
  return by_means(a, b) ? b.mean - a.mean : b.median - a.median;
}

std::optional<double> noise_of(const StepSample& a, const StepSample& b, double chance, double resolution_ns) {
  if (std::min(a.steps, b.steps) < kFewestBounded) return std::nullopt;
  if (by_means(a, b)) {
    // Effective limit of the degrees of freedom for few steps that are correlated this much: Satterthwaite's are 3 to
    // 6.
    constexpr double kMostFreedom = 6;
    const MeanError joint = error_of_means(a, b, a.dependence, b.dependence);
    return std::max(joint.error * student_quantile(chance, std::min(joint.freedom, kMostFreedom)), resolution_ns);
  }
  const MeanError joint = error_of_medians(a, b, a.widest_error, b.widest_error);
  const bool more = b.median > a.median;
  return std::max({joint.error * student_quantile(chance, joint.freedom), more ? a.above : a.below,
                   more ? b.below : b.above, resolution_ns});
}

std::optional<double> margin_of(const StepSample& a, const StepSample& b, double resolution_ns) {
  constexpr double kBothSides = 0.1;
  if (std::min(a.steps, b.steps) < kFewestBounded) return std::nullopt;
  const MeanError joint = by_means(a, b) ? error_of_means(a, b, 0, 0) : error_of_medians(a, b, a.error, b.error);
  return std::max(joint.error * student_quantile(kBothSides, joint.freedom), resolution_ns);
}

bool differ(const StepSample& a, const StepSample& b, const std::optional<double>& noise) {
  if (a.has_noise() && b.has_noise() && noise)
    return std::abs(difference_of(a, b)) > *noise && (difference_of(a, b) > 0) == (b.median > a.median);
  return a.most < b.least || b.most < a.least;
}

}  // namespace cli::comparison
