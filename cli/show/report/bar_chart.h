// Bars, one below the other, of one or more parts each, with an axis of their values: an SVG that says in words what it shows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/section.h"
#include "cli/show/report/fills.h"
#include "cli/show/report/html.h"

namespace cli::report {

struct BarPart {
  explicit BarPart(Fill fill) : label(fill_name(fill)), fill(fill) {}
  BarPart(std::string label, Fill fill) : label(std::move(label)), fill(fill) {}

  std::string label;
  Fill fill;
};

struct Bar {
  std::string label;
  std::vector<double> values;  // of the parts, from 0 on
  std::int64_t rank = -1;      // of which it is; -1: of none, or unknown
};

struct BarChart {
  std::string title, description;  // for who cannot see it
  std::string note = {};           // above it, for everyone; "": none
  std::string quantity;            // of the axis: "time"
  Unit unit = Unit::ns;
  std::vector<BarPart> parts;
  std::vector<Bar> bars;
  bool labels_above = false;  // long names: above the bars with the value of the first part, not beside them
};

// Of a long name its end, where that tells names apart: "...of/it.py(7): forward".
std::string label_end(const std::string& label, std::size_t most);
inline constexpr std::size_t kMostLetters = 56;  // of a label above its bar

// Writes a small square with the fill, for a legend.
void write_swatch(Html& page, Fill fill);

void write_bars(Html& page, const BarChart& chart);

// At most kMostBars: of more, groups of neighbours, with the mean of each part: "ranks 0-7"; one alone keeps its label.
inline constexpr std::size_t kMostBars = 64;
std::vector<Bar> grouped(std::vector<Bar> bars);

// A bar for each row of a table that has one for each GPU.

// "rank 3", "rank 3 model_init GPU 1": as much as tells rows apart.
std::string gpu_label(const TableReading& gpus, std::size_t row);

// `values` of a row: those of the chart's parts.
std::vector<Bar> gpu_bars(const TableReading& gpus, const std::function<std::vector<double>(std::size_t row)>& values);

// What a bar is where there are too many GPUs for one each; "" where there are not.
std::string grouping_text(std::size_t rows);

// The rows of a table that take most time, as bars.
struct TopBars {
  std::string_view table, label_key, value_key;  // of the table, and of its columns
  std::string_view title, quantity;
  std::size_t most = 15;
  std::function<Fill(const TableReading& rows, std::size_t row)> fill = {};  // none: that of compute
  std::string (*label)(const std::string& name) = nullptr;                   // for a bar; null: the name
};

// A chart of the rows with the largest values, and the table of `most_rows` of them in that order.
void write_top_bars(Html& page, const ReportFacts& facts, const TopBars& what, std::size_t most_rows = 50);

}  // namespace cli::report
