#include "cli/align/line_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cli {
namespace {

constexpr double kSigmaOfMad = 2.078;  // of an exponential distribution, as delays have; of a normal one it is 1.483
constexpr double kWithin = 3;           // sigma
constexpr double kFew = 8;              // of a few points the deviation itself is not well known

double mad_of(const std::vector<LinePoint>& points, const Line& line) {
  std::vector<LinePoint> rest = points;
  for (LinePoint& point : rest) point.value = std::abs(point.value - line.value(point.at));
  return weighted_median(std::move(rest));
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

Line fit_line(std::vector<LinePoint> points) {
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
  // Least squares of those that are near.
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, ww = 0;
  for (const LinePoint& point : points) {
    if (std::abs(point.value - line.value(point.at)) > kWithin * sigma) continue;
    const double x = point.at - line.middle;
    w += point.weight;
    ww += point.weight * point.weight;
    wx += point.weight * x;
    wy += point.weight * point.value;
    wxx += point.weight * x * x;
    wxy += point.weight * x * point.value;
  }
  const double spread = wxx - wx * wx / w;
  if (spread > 0) {
    line.slope = (wxy - wx * wy / w) / spread;
    line.offset = (wy - line.slope * wx) / w;
  }
  line.mad = mad_of(points, line);
  const double count = w * w / ww;  // of points of one weight
  const double unsure = sigma * (1 + kFew / count);
  line.offset_error = unsure / std::sqrt(count);
  line.slope_error = spread > 0 ? unsure / std::sqrt(spread * count / w) : std::numeric_limits<double>::infinity();
  return line;
}

}  // namespace cli
