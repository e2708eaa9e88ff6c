// Horizontal bars of one or more parts each, with an axis: an SVG with a text description.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/fills.h"
#include "cli/show/report/html.h"
#include "cli/show/report/section.h"

namespace cli::report {

struct BarPart {
  explicit BarPart(Fill fill) : label(fill_name(fill)), fill(fill) {}
  BarPart(std::string label, Fill fill) : label(std::move(label)), fill(fill) {}

  std::string label;
  Fill fill;
};

struct Bar {
  std::string label;
  std::vector<double> values;  // lengths of the parts, starting at 0
  std::int64_t rank = -1;      // -1 if unknown or not a rank
};

struct BarChart {
  std::string title, description;  // description is for screen readers
  std::string note = {};           // visible text above the chart; "" for none
  std::string quantity = {};       // title of the axis: "time"
  Unit unit = Unit::ns;
  std::vector<BarPart> parts = {};
  std::vector<Bar> bars = {};
  bool labels_above = false;  // for long names: the label and the value of the first part are above the bar
};

// Returns the end of a long label, which usually distinguishes it: "...of/it.py(7): forward".
std::string label_end(const std::string& label, std::size_t most);
inline constexpr std::size_t kMostLetters = 56;  // in a label above its bar

// Writes a small square with the fill, for a legend.
void write_swatch(Html& page, Fill fill);

void write_bars(Html& page, const BarChart& chart);

// Returns at most kMostBars bars. If there are more, neighbours are grouped, with the mean of each part: "ranks 0-7". A
// group of one keeps its label.
inline constexpr std::size_t kMostBars = 64;
std::vector<Bar> grouped(std::vector<Bar> bars);

// One bar per row of a table with one row per GPU.

// Returns a label that is unique in the table and no longer than necessary: "rank 3", "rank 3 model_init GPU 1".
std::string gpu_label(const TableReading& gpus, std::size_t row);

// Writes a chart of a table with one row per GPU. `values` returns the values of a row's bar, one per part of the chart.
void write_gpu_bars(Html& page, BarChart chart, const TableReading& gpus,
                    const std::function<std::vector<double>(std::size_t row)>& values);
// The parts are these columns.
void write_gpu_bars(Html& page, BarChart chart, const TableReading& gpus, std::span<const ColumnFill> columns);

// Returns what one bar stands for if there are too many GPUs for one bar each; otherwise "".
std::string grouping_text(std::size_t rows);

// The rows of a table that take most time, as bars.
struct TopBars {
  std::string_view table, label_key, value_key;  // names of the table and of its columns
  std::string_view title, quantity;
  std::size_t most = 15;
  std::function<Fill(const TableReading& rows, std::size_t row)> fill = {};  // empty for the fill of compute
  // Converts a name to the label of its bar; null to use the name
  std::string (*label)(const std::string& name) = nullptr;
};

// Writes a chart of the rows with the largest values, and a table of 50 of them in that order.
void write_top_bars(Html& page, const ReportFacts& facts, const TopBars& what);

}  // namespace cli::report
