#include "cli/timeline/clocks/find_breaks.h"

#include <algorithm>
#include <cmath>

namespace cli {
namespace {

constexpr std::size_t kMostBreaks = 16;
constexpr std::size_t kBlockPoints = 6;    // of a block of a part, at least, whose median is looked at
constexpr double kSigmaOfNoise = 1.483, kErrorOfMedian = 1.253;  // of a normal distribution
constexpr double kErrors = 5;              // above so many standard errors a block's median lies beside the line
constexpr double kLeastDeviation_ns = 5000;
constexpr std::size_t kLooked = 384;       // points of a part among which the best place for a break is looked for first
constexpr std::size_t kPlaces = 96;

double distance(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end, const Line& line) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += points[i].weight * std::abs(points[i].value - line.value(points[i].at));
  return sum;
}

Line line_of(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  return fit_line({points.begin() + static_cast<std::ptrdiff_t>(begin), points.begin() + static_cast<std::ptrdiff_t>(end)});
}

// What points that follow each other differ by, whatever line they are on: the noise, as a median deviation.
double noise_of(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  std::vector<LinePoint> steps;
  for (std::size_t i = begin + 1; i < end; ++i) {
    steps.push_back({0, std::abs(points[i].value - points[i - 1].value), std::min(points[i].weight, points[i - 1].weight)});
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

// Where two lines do best.
std::size_t best_break(const std::vector<LinePoint>& points, std::size_t begin, std::size_t end) {
  const std::size_t stride = std::max<std::size_t>(1, (end - begin) / kLooked);
  std::vector<LinePoint> some;
  for (std::size_t i = begin; i < end; i += stride) some.push_back(points[i]);
  const std::size_t least = std::max<std::size_t>(3, (kLeastPiece + stride - 1) / stride);
  double best_cost = -1;
  std::size_t best = some.size() / 2;
  const auto try_at = [&](std::size_t at) {
    if (at < least || at + least > some.size()) return;
    const double cost = distance(some, 0, at, line_of(some, 0, at)) + distance(some, at, some.size(), line_of(some, at, some.size()));
    if (best_cost < 0 || cost < best_cost) {
      best_cost = cost;
      best = at;
    }
  };
  const std::size_t hop = std::max<std::size_t>(1, some.size() / kPlaces);
  for (std::size_t at = least; at + least <= some.size(); at += hop) try_at(at);
  const std::size_t near = best;
  for (std::size_t at = near > hop ? near - hop : 0; at <= near + hop; ++at) try_at(at);
  // Among all points: by the lines of both sides, which a few points of the wrong one do not move.
  const std::size_t from = begin + (best - 1) * stride, to = std::min(end, begin + (best + 1) * stride + 1);
  const std::size_t left_end = std::max(begin + kLeastPiece / 2, from), right_begin = std::min(end - kLeastPiece / 2, to);
  const Line left = line_of(points, begin, left_end), right = line_of(points, right_begin, end);
  double cost = 0, least_cost = 0;
  std::size_t found = from;
  for (std::size_t i = from; i < to; ++i) {
    const LinePoint& point = points[i];
    cost += point.weight * (std::abs(point.value - left.value(point.at)) - std::abs(point.value - right.value(point.at)));
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

std::vector<std::size_t> find_breaks(const std::vector<LinePoint>& points) {
  std::vector<std::size_t> breaks;
  split(points, 0, points.size(), breaks);
  std::sort(breaks.begin(), breaks.end());
  // One that was needed only until others were found goes.
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
