// A quantity from left to right: a dot for the middle, a line from the lowest to the highest.
#pragma once
#include <string>
#include <vector>

#include "cli/analyze/analysis_table.h"
#include "cli/report/html.h"

namespace cli {

struct SpreadMark {
  std::string label;  // below it
  std::string text;   // all that is known of it, in words
  double lowest = 0, middle = 0, highest = 0;
  bool is_apart = false;  // drawn hollow, and the scale is not made for it: warm-up
};

struct SpreadChart {
  std::string title, description, quantity, across;  // across: what goes from left to right
  Unit unit = Unit::ns;
  std::vector<SpreadMark> marks;
};

inline constexpr std::size_t kMostSpreadMarks = 240;

void write_spread(Html& page, const SpreadChart& chart);

}  // namespace cli
