// Fits a robust line through points with some outliers.
#pragma once
#include <cstddef>
#include <vector>

namespace cli {

struct LinePoint {
  double at = 0, value = 0;
  double weight = 1;  // > 0
};

struct Line {
  double middle = 0;  // where the value is `offset`: the weighted mean of the points' positions
  double offset = 0, slope = 0;
  double mad = 0;                            // weighted median absolute deviation from the line
  double offset_error = 0, slope_error = 0;  // standard errors; infinite for one or two points
  double value(double at) const { return offset + slope * (at - middle); }
};

double weighted_median(std::vector<LinePoint> points);  // of the values; 0 if there are none

// Fits a line. Slope: the median of the slopes between points half of all points apart. Offset: the median of the
// residuals. Then both are refined by least squares over the points within three standard deviations (sigma estimated
// from the MAD), which uses the information that medians discard.
//
// If noise only delays, early points are more reliable than late ones. Points above the line then have the weight 1 and
// points below it the weight `below` (asymmetric least squares: Newey and Powell, Econometrica 55, 1987). The standard
// errors are those for `below` = 1, which are larger.
Line fit_line(std::vector<LinePoint> points, double below = 1);  // 0 < below <= 1

// Breaks for data that no single line fits: a clock was set, or its drift changed.

// Returns the indices at which another line begins, ascending; empty if one line fits all. `points` have to be sorted
// by `at`. Each part has at least kLeastPiece points, and the position of a break is as exact as the points' noise
// allows. Changes smaller than the noise and 5 us are ignored.
inline constexpr std::size_t kLeastPiece = 12;
std::vector<std::size_t> find_breaks(const std::vector<LinePoint>& points);

// Returns the sum of the distances of points from the lines of the parts.
double cost_of(const std::vector<LinePoint>& points, const std::vector<std::size_t>& breaks);

}  // namespace cli
