// Where a line does not do: a clock was set, or its drift changed.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/timeline/clocks/line_fit.h"

namespace cli {

// Indices at which another line begins, ascending; empty: one line does for all. `points` by `at`, ascending. Each part has at
// least kLeastPiece points, and where it is that the line changes is known as well as the points' noise allows. What is less than
// the noise and 5 us is not looked for.
inline constexpr std::size_t kLeastPiece = 12;
std::vector<std::size_t> find_breaks(const std::vector<LinePoint>& points);

// How far points lie from the lines of the parts, in sum.
double cost_of(const std::vector<LinePoint>& points, const std::vector<std::size_t>& breaks);

}  // namespace cli
