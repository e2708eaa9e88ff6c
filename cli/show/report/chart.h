// Charts as SVG of the page's full width. Horizontal positions are percentages of the plot and vertical positions are pixels, so text keeps its
// size on a phone and on a wide screen. Row labels are in a gutter to the left of the plot.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/html.h"

namespace cli {

// An axis of a chart: from 0 to a round number, in one unit.
struct Axis {
  double most = 1;             // at its end, in the unit of the values
  std::vector<double> ticks;   // ascending from 0, in the unit of the values
  double divisor = 1;          // of a value, for its tick
  std::string unit;            // of the ticks: "ms", "%"; "" of a count

  // "12.5"
  std::string tick_text(double value) const;
};

// That holds values up to `largest`. Unit::ns, percent, rate, bytes; all others are counts.
Axis axis_for(double largest, Unit unit);

struct ChartFrame {
  std::string_view title, description;  // for screen readers
  double height = 0;
  std::size_t label_letters = 0;  // length of the longest label in the gutter; 0: no gutter
};

// Returns a share of the plot's width as text, such as "12.5%".
inline std::string across(double share) { return coordinate(100 * share) + "%"; }

// The number of letters that fit into the widest gutter.
inline constexpr std::size_t kMostGutterLetters = 27;

void open_chart(Html& page, const ChartFrame& frame);
void close_chart(Html& page);

// Opens and closes an SVG inside a chart that clips its content, such as the name in a narrow bar.
void open_box(Html& page, std::string_view css_class, double from_share, double width_share, double y, double height);
inline void close_box(Html& page) { page.close("svg"); }

}  // namespace cli
