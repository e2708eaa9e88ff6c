// The rows of a table that take most time, as bars.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "cli/answers/tables/table_reading.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/facts.h"

namespace cli {

struct TopBars {
  std::string_view table, label_key, value_key;  // of the table, and of its columns
  std::string_view title, quantity;
  std::size_t most = 15;
  std::function<Fill(const TableReading& rows, std::size_t row)> fill = {};  // none: that of compute
  std::string (*label)(const std::string& name) = nullptr;                   // for a bar; null: the name
};

// A chart of the rows with the largest values, and the table of `most_rows` of them in that order.
void write_top_bars(Html& page, const ReportFacts& facts, const TopBars& what, std::size_t most_rows = 50);

}  // namespace cli
