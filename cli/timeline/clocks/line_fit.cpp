#include "cli/timeline/clocks/line_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/trace/clocks.h"

namespace cli {
namespace {

constexpr double kWithin = 3;         // standard deviations
constexpr int kAsymmetricRounds = 6;  // the points below change with the line; after a few rounds they are stable

double mad_of(const std::vector<LinePoint>& points, const Line& line) {
  std::vector<LinePoint> rest = points;
  for (LinePoint& point : rest) point.value = std::abs(point.value - line.value(point.at));
  return weighted_median(std::move(rest));
}

// Weighted sums over the points near a line, with x relative to its middle.
struct Sums {
  double w = 0, ww = 0, x = 0, y = 0, xx = 0, xy = 0;
  double spread() const { return xx - x * x / w; }
};

Sums sums_near(const std::vector<LinePoint>& points, const Line& line, double within, double below) {
  Sums sums;
  for (const LinePoint& point : points) {
    const double beside = point.value - line.value(point.at);
    if (std::abs(beside) > within) continue;
    const double weight = point.weight * (beside < 0 ? below : 1), x = point.at - line.middle;
    sums.w += weight;
    sums.ww += weight * weight;
    sums.x += weight * x;
    sums.y += weight * point.value;
    sums.xx += weight * x * x;
    sums.xy += weight * x * point.value;
  }
  return sums;
}

// Returns false and leaves the line unchanged if all points are at one moment.
bool least_squares(const Sums& sums, Line& line) {
  if (!(sums.spread() > 0)) return false;
  line.slope = (sums.xy - sums.x * sums.y / sums.w) / sums.spread();
  line.offset = (sums.y - line.slope * sums.x) / sums.w;
  return true;
}

constexpr std::size_t kMostBreaks = 16;
constexpr std::size_t kBlockPoints = 6;                          // minimum points of a block, whose median is tested
constexpr double kSigmaOfNoise = 1.483, kErrorOfMedian = 1.253;  // for a normal distribution
constexpr double kErrors = 5;  // standard errors by which the median of a block has to differ from the line
constexpr double kLeastDeviation_ns = 5000;
constexpr std::size_t kLooked = 384;  // number of points in which the best position of a break is searched first
constexpr std::size_t kPlaces = 96;

double distance(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end, const Line& line) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i)
    sum += points[i].weight * std::abs(points[i].value - line.value(points[i].at));
  return sum;
}

Line line_of(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  return fit_line(
      {points.begin() + static_cast<std::ptrdiff_t>(begin), points.begin() + static_cast<std::ptrdiff_t>(end)});
}

// Returns the noise as the median deviation of differences between successive points, which does not depend on their
// line.
double noise_of(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  std::vector<LinePoint> steps;
  for (std::size_t i = begin + 1; i < end; ++i) {
    steps.push_back(
        {0, std::abs(points[i].value - points[i - 1].value), std::min(points[i].weight, points[i - 1].weight)});
  }
  return weighted_median(std::move(steps)) / std::sqrt(2);
}

bool is_one_line(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  if (count < 2 * kLeastPiece) return true;
  const Line line = line_of(points, begin, end);
  const double sigma = kSigmaOfNoise * noise_of(points, begin, end);
  for (const std::size_t blocks : {4, 8, 16, 32}) {
    if (count < blocks * kBlockPoints) break;
    for (std::size_t block = 0; block < blocks; ++block) {
      std::vector<LinePoint> rest;
      double weights = 0, squares = 0;
      for (std::size_t i = begin + block * count / blocks; i < begin + (block + 1) * count / blocks; ++i) {
        rest.push_back({0, points[i].value - line.value(points[i].at), points[i].weight});
        weights += points[i].weight;
        squares += points[i].weight * points[i].weight;
      }
      const double error = kErrorOfMedian * sigma / std::sqrt(weights * weights / squares);
      if (std::abs(weighted_median(std::move(rest))) > kErrors * error + kLeastDeviation_ns) return false;
    }
  }
  return true;
}

// Returns the best position for two lines.
std::size_t best_break(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  const std::size_t stride = std::max<std::size_t>(1, (end - begin) / kLooked);
  std::vector<LinePoint> some;
  for (std::size_t i = begin; i < end; i += stride) some.push_back(points[i]);
  const std::size_t least = std::max<std::size_t>(3, (kLeastPiece + stride - 1) / stride);
  double best_cost = -1;
  std::size_t best = some.size() / 2;
  const auto try_at = [&](std::size_t at) {
    if (at < least || at + least > some.size()) return;
    const double cost =
        distance(some, 0, at, line_of(some, 0, at)) + distance(some, at, some.size(), line_of(some, at, some.size()));
    if (best_cost < 0 || cost < best_cost) {
      best_cost = cost;
      best = at;
    }
  };
  const std::size_t hop = std::max<std::size_t>(1, some.size() / kPlaces);
  for (std::size_t at = least; at + least <= some.size(); at += hop) try_at(at);
  const std::size_t near = best;
  for (std::size_t at = near > hop ? near - hop : 0; at <= near + hop; ++at) try_at(at);
  // Among all points, with the lines of both sides, which are robust to a few points of the wrong side.
  const std::size_t from = begin + (best - 1) * stride, to = std::min(end, begin + (best + 1) * stride + 1);
  const std::size_t left_end = std::max(begin + kLeastPiece / 2, from),
                    right_begin = std::min(end - kLeastPiece / 2, to);
  const Line left = line_of(points, begin, left_end), right = line_of(points, right_begin, end);
  double cost = 0, least_cost = 0;
  std::size_t found = from;
  for (std::size_t i = from; i < to; ++i) {
    const LinePoint& point = points[i];
    cost +=
        point.weight * (std::abs(point.value - left.value(point.at)) - std::abs(point.value - right.value(point.at)));
    if (cost < least_cost) {
      least_cost = cost;
      found = i + 1;
    }
  }
  return std::clamp(found, begin + kLeastPiece, end - kLeastPiece);
}

void split(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end, std::vector<std::size_t>& breaks) {
  if (breaks.size() >= kMostBreaks || is_one_line(points, begin, end)) return;
  const std::size_t at = best_break(points, begin, end);
  breaks.push_back(at);
  split(points, begin, at, breaks);
  split(points, at, end, breaks);
}

}  // namespace

double weighted_median(std::vector<LinePoint> points) {
  if (points.empty()) return 0;
  std::sort(points.begin(), points.end(), [](const LinePoint& a, const LinePoint& b) { return a.value < b.value; });
  double total = 0, below = 0;
  for (const LinePoint& point : points) total += point.weight;
  for (std::size_t i = 0; i < points.size(); ++i) {
    below += points[i].weight;
    if (below * 2 > total) return points[i].value;
    if (below * 2 == total)
      return i + 1 < points.size() ? (points[i].value + points[i + 1].value) / 2 : points[i].value;
  }
  return points.back().value;
}

Line fit_line(std::vector<LinePoint> points, double below) {
  Line line;
  line.offset_error = line.slope_error = std::numeric_limits<double>::infinity();
  if (points.empty()) return line;
  std::sort(points.begin(), points.end(), [](const LinePoint& a, const LinePoint& b) { return a.at < b.at; });
  double weights = 0;
  for (const LinePoint& point : points) {
    weights += point.weight;
    line.middle += point.weight * point.at;
  }
  line.middle /= weights;
  if (points.size() < 3) {
    line.offset = weighted_median(std::move(points));
    return line;
  }
  std::vector<LinePoint> slopes;
  const std::size_t half = points.size() / 2;
  for (std::size_t i = 0; i + half < points.size(); ++i) {
    const LinePoint &a = points[i], &b = points[i + half];
    if (b.at > a.at)
      slopes.push_back({0, (b.value - a.value) / (b.at - a.at), std::min(a.weight, b.weight) * (b.at - a.at)});
  }
  line.slope = weighted_median(std::move(slopes));
  std::vector<LinePoint> rest = points;
  for (LinePoint& point : rest) point.value -= line.slope * (point.at - line.middle);
  line.offset = weighted_median(std::move(rest));
  line.mad = mad_of(points, line);
  const double sigma = std::max(line.mad * kSigmaOfMad, 1e-9);
  const Sums near = sums_near(points, line, kWithin * sigma, 1);
  least_squares(near, line);
  for (int round = 0; below < 1 && round < kAsymmetricRounds; ++round) {
    if (!least_squares(sums_near(points, line, kWithin * sigma, below), line)) break;
  }
  line.mad = mad_of(points, line);
  const double count = near.w * near.w / near.ww, spread = near.spread();  // effective number of points
  const double unsure = sigma * (1 + kFewPoints / count);
  line.offset_error = unsure / std::sqrt(count);
  line.slope_error = spread > 0 ? unsure / std::sqrt(spread * count / near.w) : std::numeric_limits<double>::infinity();
  return line;
}

std::vector<std::size_t> find_breaks(const std::vector<LinePoint>& points) {
  std::vector<std::size_t> breaks;
  split(points, 0, points.size(), breaks);
  std::sort(breaks.begin(), breaks.end());
  // Removes a break that was needed only until others were found.
  for (std::size_t i = 0; i < breaks.size();) {
    const std::size_t begin = i == 0 ? 0 : breaks[i - 1], end = i + 1 < breaks.size() ? breaks[i + 1] : points.size();
    if (is_one_line(points, begin, end)) {
      breaks.erase(breaks.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return breaks;
}

double cost_of(const std::vector<LinePoint>& points, const std::vector<std::size_t>& breaks) {
  double cost = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= breaks.size(); ++i) {
    const std::size_t end = i < breaks.size() ? breaks[i] : points.size();
    if (end > begin) cost += distance(points, begin, end, line_of(points, begin, end));
    begin = end;
  }
  return cost;
}

}  // namespace cli
