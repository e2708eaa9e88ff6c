// A chart of one quantity over places. Each place has a dot for the middle and a line from the lowest to the highest value.
#pragma once
#include <string>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/html.h"

namespace cli {

struct SpreadMark {
  std::string label;  // below it
  std::string text;   // tooltip
  double lowest = 0, middle = 0, highest = 0;
  bool is_apart = false;  // warm-up: drawn hollow and ignored for the scale
};

struct SpreadChart {
  std::string title, description, quantity, across;  // across is the name of the horizontal axis
  Unit unit = Unit::ns;
  std::vector<SpreadMark> marks;
};

inline constexpr std::size_t kMostSpreadMarks = 240;

void write_spread(Html& page, const SpreadChart& chart);

}  // namespace cli
