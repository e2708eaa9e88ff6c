// A field for each row and column, the darker the more: red for what is much, blue for what is little.
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/report/html.h"

namespace cli {

struct HeatField {
  double heat = 0;    // from -1 (blue) to 1 (red); 0 is neither
  std::string text;   // in it, if columns are wide enough
  std::string title;  // all that is known of it, in words
};

struct HeatRow {
  std::string label;
  std::vector<std::optional<HeatField>> fields;  // one for each column; empty: there is none
  bool is_apart = false;                         // with a line above it: the sum
};

struct HeatMap {
  std::string title, description;
  std::string columns_are;  // above the columns
  std::vector<std::string> columns;
  std::set<std::size_t> culprits = {};  // columns whose names stand out
  std::vector<HeatRow> rows;
};

// More columns have no text in their fields. Texts of 5 letters fit into those of a phone.
inline constexpr std::size_t kMostTextColumns = 12;

void write_heat_map(Html& page, const HeatMap& map);

}  // namespace cli
