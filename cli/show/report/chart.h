// Charts as full-width SVG. Horizontal positions are percentages of the plot and vertical positions are pixels, so text
// has the same size on phones and wide screens. Row labels are in a gutter to the left of the plot.
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/html.h"

namespace cli::report {

// An axis of a chart: from 0 to a round number, in one unit.
struct Axis {
  double most = 1;            // end of the axis, in the unit of the values
  std::vector<double> ticks;  // sorted from 0, in the unit of the values
  double divisor = 1;         // value / divisor is the number at the tick
  std::string unit;           // unit of the ticks: "ms", "%"; "" for a count

  // Returns, for example, "12.5".
  std::string tick_text(double value) const;
};

// Returns an axis for values up to `largest`. Supports Unit::ns, percent, rate and bytes; all others are counts.
Axis axis_for(double largest, Unit unit);

struct ChartFrame {
  std::string_view title, description;  // for screen readers
  double height = 0;
  std::size_t label_letters = 0;  // length of the longest label in the gutter; 0 for no gutter
};

// Returns a share of the plot's width as text, such as "12.5%".
inline std::string across(double share) { return coordinate(100 * share) + "%"; }

// The number of letters that fit into the widest gutter.
inline constexpr std::size_t kMostGutterLetters = 27;

void open_chart(Html& page, const ChartFrame& frame);
void close_chart(Html& page);

// Opens an SVG inside a chart that clips its content, such as the name in a narrow bar. close_box() closes it.
void open_box(Html& page, std::string_view css_class, double from_share, double width_share, double y, double height);
inline void close_box(Html& page) { page.close("svg"); }

// A chart with one field per row and column. Red fields are high, blue fields are low, and extreme values are darker.
struct HeatField {
  double heat = 0;    // from -1 (blue) to 1 (red); 0 is neither
  std::string text;   // text in the field, if columns are wide enough
  std::string title;  // tooltip
};

struct HeatRow {
  std::string label;
  std::vector<std::optional<HeatField>> fields;  // one per column; empty if there is no value
  bool is_apart = false;                         // the row is a sum, with a line above it
};

struct HeatMap {
  std::string title, description;
  std::string columns_are;  // text above the columns
  std::vector<std::string> columns;
  std::set<std::size_t> culprits = {};  // columns with emphasized names
  std::vector<HeatRow> rows;
};

// Fields have no text if there are more columns. On a phone, a text of 5 letters fits.
inline constexpr std::size_t kMostTextColumns = 12;

void write_heat_map(Html& page, const HeatMap& map);

// A chart of one quantity over places. Each place has a dot for the middle and a line from the lowest to the highest
// value.
struct SpreadMark {
  std::string label;  // below the mark
  std::string text;   // tooltip
  double lowest = 0, middle = 0, highest = 0;
  bool is_apart = false;  // warm-up: drawn hollow and ignored for the scale
};

struct SpreadChart {
  std::string title, description, quantity, across;  // `across` is the title of the horizontal axis
  Unit unit = Unit::ns;
  std::vector<SpreadMark> marks;
};

inline constexpr std::size_t kMostSpreadMarks = 240;

void write_spread(Html& page, const SpreadChart& chart);

}  // namespace cli::report
