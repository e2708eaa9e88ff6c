// A chart with one field for each row and column. Red fields are high, blue fields are low, and extreme values are darker.
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/show/report/html.h"

namespace cli {

struct HeatField {
  double heat = 0;    // from -1 (blue) to 1 (red); 0 is neither
  std::string text;   // text in the field, if columns are wide enough
  std::string title;  // tooltip
};

struct HeatRow {
  std::string label;
  std::vector<std::optional<HeatField>> fields;  // one for each column; empty if there is no value
  bool is_apart = false;                         // the row is a sum, with a line above it
};

struct HeatMap {
  std::string title, description;
  std::string columns_are;  // text above the columns
  std::vector<std::string> columns;
  std::set<std::size_t> culprits = {};  // columns with an emphasized name
  std::vector<HeatRow> rows;
};

// With more columns, fields have no text. On a phone a text of 5 letters fits.
inline constexpr std::size_t kMostTextColumns = 12;

void write_heat_map(Html& page, const HeatMap& map);

}  // namespace cli
