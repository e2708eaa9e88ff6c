#include "cli/show/report/top_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/show/report/table_html.h"

namespace cli {
namespace {

// Those of the largest values first.
ResultTable largest_first(const TableReading& rows, std::string_view key) {
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows.number(a, key) > rows.number(b, key); });
  ResultTable sorted{rows.table().name, rows.table().columns, {}, rows.table().notes};
  for (const std::size_t row : order) sorted.rows.push_back(rows.table().rows[row]);
  return sorted;
}

}  // namespace

void write_top_bars(Html& page, const ReportFacts& facts, const TopBars& what, std::size_t most_rows) {
  const TableReading rows(facts.tables, what.table);
  const std::vector<ResultTable> sorted{largest_first(rows, what.value_key)};
  const TableReading top(sorted, what.table);
  BarChart chart;
  chart.title = what.title;
  chart.description = fmt::format("The {} of {} rows with the most time, largest first.", std::min(what.most, top.rows()), top.rows());
  chart.quantity = what.quantity;
  chart.labels_above = true;
  const auto fill_of = [&](std::size_t row) { return what.fill ? what.fill(top, row) : Fill::compute; };
  for (std::size_t row = 0; row < std::min(what.most, top.rows()); ++row) {
    const Fill fill = fill_of(row);
    const bool is_new = std::none_of(chart.parts.begin(), chart.parts.end(), [&](const BarPart& part) { return part.fill == fill; });
    if (is_new) chart.parts.emplace_back(fill);
  }
  for (std::size_t row = 0; row < std::min(what.most, top.rows()); ++row) {
    const std::string name = top.get<std::string>(row, what.label_key).value_or("unknown");
    Bar bar{what.label == nullptr ? name : what.label(name), {}};
    for (const BarPart& part : chart.parts) bar.values.push_back(part.fill == fill_of(row) ? static_cast<double>(top.number(row, what.value_key)) : 0.0);
    chart.bars.push_back(std::move(bar));
  }
  write_bars(page, chart);
  write_folded_table(page, sorted.front(), facts, what.title, {.most = most_rows});
}

}  // namespace cli
