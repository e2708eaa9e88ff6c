// A robust line through points that are mostly right.
#pragma once
#include <cstddef>
#include <vector>

namespace cli {

struct LinePoint {
  double at = 0, value = 0;
  double weight = 1;  // > 0
};

struct Line {
  double middle = 0;          // where `offset` is the value: the weighted mean of the points' places
  double offset = 0, slope = 0;
  double mad = 0;             // weighted median of what lies beside the line
  double offset_error = 0, slope_error = 0;  // standard errors; of one or two points infinite
  double value(double at) const { return offset + slope * (at - middle); }
};

double weighted_median(std::vector<LinePoint> points);  // of values; 0 for none

// Slope: the median of the slopes between points half of them apart. Offset: the median of the rest. Then once more by least squares
// of what lies within three deviations (sigma, as the MAD tells it), which uses what medians leave.
//
// Where noise only delays, the early points tell more than the late ones: those below the line then count `below` of what those
// above do (asymmetric least squares: Newey and Powell, Econometrica 55, 1987). The standard errors are those of 1, which are larger.
Line fit_line(std::vector<LinePoint> points, double below = 1);  // 0 < below <= 1

// Where a line does not do: a clock was set, or its drift changed.

// Indices at which another line begins, ascending; empty: one line does for all. `points` by `at`, ascending. Each part has at
// least kLeastPiece points, and where it is that the line changes is known as well as the points' noise allows. What is less than
// the noise and 5 us is not looked for.
inline constexpr std::size_t kLeastPiece = 12;
std::vector<std::size_t> find_breaks(const std::vector<LinePoint>& points);

// How far points lie from the lines of the parts, in sum.
double cost_of(const std::vector<LinePoint>& points, const std::vector<std::size_t>& breaks);

}  // namespace cli
