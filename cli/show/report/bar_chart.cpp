#include "cli/show/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/answers/tables/write_tables.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/table_html.h"

namespace cli::report {

namespace {

constexpr double kTop = 6, kBar = 14, kGap = 5, kLabel = 15, kAxis = 34, kSwatch = 12;

std::string value_text(double value, Unit unit) {
  if (unit == Unit::percent || unit == Unit::rate) return cell_text(value, unit) + (unit == Unit::rate ? " GB/s" : "");
  return cell_text(static_cast<std::int64_t>(std::llround(value)), unit);
}

std::string bar_text(const BarChart& chart, const Bar& bar) {
  std::string text = bar.label + ":";
  for (std::size_t i = 0; i < chart.parts.size(); ++i)
    text += fmt::format("{} {}{}", i == 0 ? "" : ",", chart.parts[i].label.empty() ? "" : chart.parts[i].label + " ",
                        value_text(bar.values[i], chart.unit));
  return text;
}

// Returns the value of the first part that is not 0; 0 if there is none.
double bar_value(const Bar& bar) {
  const auto first = std::ranges::find_if(bar.values, [](double value) { return value > 0; });
  return first == bar.values.end() ? 0.0 : *first;
}

bool has_ascending_ranks(const std::vector<Bar>& bars) {
  const auto is_no_later = [](const Bar& a, const Bar& b) { return a.rank >= b.rank; };
  return bars.front().rank >= 0 && std::ranges::adjacent_find(bars, is_no_later) == bars.end();
}

// Returns the label of a group of neighbours: "ranks 0-7" by rank, else "rank 0 GPU 0 to 2", "rank 0 GPU 7 to rank 1
// GPU 1".
std::string group_label(std::span<const Bar> bars, bool by_rank) {
  const Bar &first = bars.front(), &last = bars.back();
  if (bars.size() == 1 || first.label == last.label) return first.label;
  if (by_rank) return fmt::format("ranks {}-{}", first.rank, last.rank);
  const std::size_t word = last.label.rfind(' ') + 1;
  const bool same_before =
      word > 0 && first.label.rfind(' ') + 1 == word && first.label.compare(0, word, last.label, 0, word) == 0;
  return fmt::format("{} to {}", first.label, same_before ? last.label.substr(word) : last.label);
}

double largest(const BarChart& chart) {
  double most = 0;
  for (const Bar& bar : chart.bars) most = std::max(most, std::accumulate(bar.values.begin(), bar.values.end(), 0.0));
  return most;
}

void draw_bar_axis(Html& page, const BarChart& chart, const Axis& axis, double bottom) {
  for (const double tick : axis.ticks) {
    const std::string x = across(tick / axis.most);
    page.empty("line", {{"class", "grid"}, {"x1", x}, {"x2", x}, {"y1", kTop}, {"y2", bottom}});
    page.element("text",
                 {{"class", "tick"},
                  {"x", x},
                  {"y", bottom + 13},
                  {"text-anchor", tick == 0           ? "start"
                                  : tick == axis.most ? "end"
                                                      : "middle"}},
                 axis.tick_text(tick));
  }
  page.element("text", {{"class", "tick"}, {"x", "50%"}, {"y", bottom + 28}, {"text-anchor", "middle"}},
               axis.unit.empty() ? chart.quantity : fmt::format("{}, {}", chart.quantity, axis.unit));
}

void draw_bar(Html& page, const BarChart& chart, const Axis& axis, const Bar& bar, double y) {
  const Element in_g(page, "g");
  page.element("title", bar_text(chart, bar));
  if (chart.labels_above) {
    page.element("text", {{"class", "name"}, {"x", 0}, {"y", y + kLabel - 4}},
                 shortened_text(bar.label, kMostLetters) + ": " + value_text(bar_value(bar), chart.unit));
    y += kLabel;
  } else {
    page.element("text", {{"x", -6}, {"y", y + kBar - 3}, {"text-anchor", "end"}},
                 label_end(bar.label, kMostGutterLetters));
  }
  double sum = 0;
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    const double from = sum / axis.most, to = (sum += bar.values[i]) / axis.most;
    if (bar.values[i] <= 0) continue;
    page.empty("rect", {{"x", across(from)},
                        {"y", y},
                        {"width", across(std::max(to - from, 0.0002))},
                        {"height", kBar},
                        {"fill", paint(chart.parts[i].fill)}});
  }
}

// Parts without a bar appear only in the table.
bool is_drawn(const BarChart& chart, std::size_t part) {
  return std::ranges::any_of(chart.bars, [&](const Bar& bar) { return bar.values[part] > 0; });
}

void write_legend(Html& page, const BarChart& chart) {
  if (chart.parts.size() < 2) return;
  const Element in_p(page, "p", {{"class", "legend"}});
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    if (!is_drawn(chart, i)) continue;
    page.open("span");
    write_swatch(page, chart.parts[i].fill);
    page.text(" " + chart.parts[i].label);
    page.close("span");
    page.text(" ");
  }
}

// Returns true if the process has a single row. A training process usually has one GPU; for others, the label includes
// the GPU.
bool is_alone(const TableReading& gpus, std::size_t row) {
  const auto same = [&](std::size_t other) {
    return other < gpus.rows() && gpus.get<std::int64_t>(other, "rank") == gpus.get<std::int64_t>(row, "rank");
  };
  return !same(row + 1) && (row == 0 || !same(row - 1));
}

// Returns the rows sorted by value, largest first.
ResultTable largest_first(const TableReading& rows, std::string_view key) {
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return rows.number(a, key) > rows.number(b, key); });
  ResultTable sorted{rows.table().name, rows.table().columns, {}, rows.table().notes};
  for (const std::size_t row : order) sorted.rows.push_back(rows.table().rows[row]);
  return sorted;
}

}  // namespace

void write_swatch(Html& page, Fill fill) {
  const Element in_svg(page, "svg",
                       {{"class", "swatch"}, {"width", kSwatch}, {"height", kSwatch}, {"aria-hidden", "true"}});
  page.empty("rect", {{"width", kSwatch}, {"height", kSwatch}, {"fill", paint(fill)}});
}

std::string label_end(const std::string& label, std::size_t most) {
  if (label.size() <= most) return label;
  std::size_t from = label.size() - (most - 3);
  // Do not cut within a character
  while (from < label.size() && (static_cast<unsigned char>(label[from]) & 0xc0) == 0x80) ++from;
  return "..." + label.substr(from);
}

void write_bars(Html& page, const BarChart& chart) {
  const Element in_figure(page, "figure");
  if (!chart.note.empty()) page.element("p", {{"class", "caption"}}, chart.note);
  write_legend(page, chart);
  const double row = kBar + kGap + (chart.labels_above ? kLabel : 0);
  const double bottom = kTop + row * static_cast<double>(chart.bars.size());
  std::size_t longest = 4;
  for (const Bar& bar : chart.bars) longest = std::max(longest, bar.label.size());
  open_chart(page, {chart.title, chart.description, bottom + kAxis, chart.labels_above ? 0 : longest});
  const Axis axis = axis_for(largest(chart), chart.unit);
  draw_bar_axis(page, chart, axis, bottom);
  double y = kTop;
  for (const Bar& bar : chart.bars) {
    draw_bar(page, chart, axis, bar, y);
    y += row;
  }
  close_chart(page);
}

std::vector<Bar> grouped(std::vector<Bar> bars) {
  if (bars.size() <= kMostBars) return bars;
  const std::size_t each = (bars.size() + kMostBars - 1) / kMostBars;
  const bool by_rank = has_ascending_ranks(bars);
  std::vector<Bar> groups;
  for (std::size_t from = 0; from < bars.size(); from += each) {
    const std::size_t to = std::min(bars.size(), from + each);
    Bar group{
        group_label({bars.begin() + static_cast<std::ptrdiff_t>(from), bars.begin() + static_cast<std::ptrdiff_t>(to)},
                    by_rank),
        std::vector<double>(bars[from].values.size())};
    for (std::size_t i = from; i < to; ++i) {
      for (std::size_t part = 0; part < group.values.size(); ++part)
        group.values[part] += bars[i].values[part] / static_cast<double>(to - from);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string gpu_label(const TableReading& gpus, std::size_t row) {
  std::string label = gpus.rank(row);
  if (const auto phase = gpus.get<std::string>(row, "phase")) label += " " + *phase;
  const auto device = gpus.get<std::int64_t>(row, "device");
  return device && !is_alone(gpus, row) ? fmt::format("{} GPU {}", label, *device) : label;
}

void write_gpu_bars(Html& page, BarChart chart, const TableReading& gpus,
                    const std::function<std::vector<double>(std::size_t row)>& values) {
  chart.note = grouping_text(gpus.rows());
  for (std::size_t row = 0; row < gpus.rows(); ++row)
    chart.bars.push_back({gpu_label(gpus, row), values(row), gpus.get<std::int64_t>(row, "rank").value_or(-1)});
  chart.bars = grouped(std::move(chart.bars));
  write_bars(page, chart);
}

void write_gpu_bars(Html& page, BarChart chart, const TableReading& gpus, std::span<const ColumnFill> columns) {
  for (const ColumnFill& column : columns) chart.parts.emplace_back(column.fill);
  write_gpu_bars(page, std::move(chart), gpus, [&](std::size_t row) {
    std::vector<double> values;
    for (const ColumnFill& column : columns) values.push_back(static_cast<double>(gpus.number(row, column.key)));
    return values;
  });
}

std::string grouping_text(std::size_t rows) {
  const std::size_t each = (rows + kMostBars - 1) / kMostBars;
  return rows <= kMostBars
             ? ""
             : fmt::format("Each bar is the mean of {} neighboring GPUs; the table lists every GPU.", each);
}

void write_top_bars(Html& page, const ReportFacts& facts, const TopBars& what) {
  const TableReading rows(facts.tables, what.table);
  const ResultTable sorted = largest_first(rows, what.value_key);
  const TableReading top(sorted);
  BarChart chart;
  chart.title = what.title;
  chart.description =
      fmt::format("The {} of {} rows with the most time, largest first.", std::min(what.most, top.rows()), top.rows());
  chart.quantity = what.quantity;
  chart.labels_above = true;
  const auto fill_of = [&](std::size_t row) { return what.fill ? what.fill(top, row) : Fill::compute; };
  for (std::size_t row = 0; row < std::min(what.most, top.rows()); ++row) {
    const Fill fill = fill_of(row);
    const bool is_new = std::ranges::find(chart.parts, fill, &BarPart::fill) == chart.parts.end();
    if (is_new) chart.parts.emplace_back(fill);
  }
  for (std::size_t row = 0; row < std::min(what.most, top.rows()); ++row) {
    const std::string name = top.get<std::string>(row, what.label_key).value_or("unknown");
    Bar bar{what.label == nullptr ? name : what.label(name), {}};
    for (const BarPart& part : chart.parts)
      bar.values.push_back(part.fill == fill_of(row) ? static_cast<double>(top.number(row, what.value_key)) : 0.0);
    chart.bars.push_back(std::move(bar));
  }
  write_bars(page, chart);
  write_folded_table(page, sorted, facts, what.title, {.most = 50});
}

}  // namespace cli::report
