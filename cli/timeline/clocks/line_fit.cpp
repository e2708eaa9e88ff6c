#include "cli/timeline/clocks/line_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/trace/clock_fit.h"

namespace cli {
namespace {

constexpr double kWithin = 3;           // sigma
constexpr int kAsymmetricRounds = 6;    // which points lie below changes with the line, soon no more

double mad_of(const std::vector<LinePoint>& points, const Line& line) {
  std::vector<LinePoint> rest = points;
  for (LinePoint& point : rest) point.value = std::abs(point.value - line.value(point.at));
  return weighted_median(std::move(rest));
}

// Weighted sums over the points near a line, x from its middle.
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

// False, and the line as it was: the points are of one moment.
bool least_squares(const Sums& sums, Line& line) {
  if (!(sums.spread() > 0)) return false;
  line.slope = (sums.xy - sums.x * sums.y / sums.w) / sums.spread();
  line.offset = (sums.y - line.slope * sums.x) / sums.w;
  return true;
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
    if (below * 2 == total) return i + 1 < points.size() ? (points[i].value + points[i + 1].value) / 2 : points[i].value;
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
    if (b.at > a.at) slopes.push_back({0, (b.value - a.value) / (b.at - a.at), std::min(a.weight, b.weight) * (b.at - a.at)});
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
  const double count = near.w * near.w / near.ww, spread = near.spread();  // count: of points of one weight
  const double unsure = sigma * (1 + kFewPoints / count);
  line.offset_error = unsure / std::sqrt(count);
  line.slope_error = spread > 0 ? unsure / std::sqrt(spread * count / near.w) : std::numeric_limits<double>::infinity();
  return line;
}

}  // namespace cli
