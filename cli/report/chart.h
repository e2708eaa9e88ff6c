// Charts as SVG that is as wide as the page: places across are percentages of the plot, places down are pixels. So text keeps its size
// on a phone and on a wide screen, and bars use all of the width. Labels of rows stand in a gutter to the left of the plot.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "cli/report/html.h"

namespace cli {

struct ChartFrame {
  std::string_view title, description;  // for readers who cannot see it
  double height = 0;
  std::size_t label_letters = 0;  // of the longest label in the gutter; 0: no gutter
};

// A share of the plot's width: "12.5%".
inline std::string across(double share) { return coordinate(100 * share) + "%"; }

// Letters that fit into the widest gutter.
inline constexpr std::size_t kMostGutterLetters = 27;

void open_chart(Html& page, const ChartFrame& frame);
void close_chart(Html& page);

// Opens and closes an SVG within a chart that cuts what is too wide for it, such as the name in a narrow bar.
void open_box(Html& page, std::string_view css_class, double from_share, double width_share, double y, double height);
inline void close_box(Html& page) { page.close("svg"); }

}  // namespace cli
