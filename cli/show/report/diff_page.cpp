#include "cli/show/report/diff_page.h"

#include <algorithm>
#include <cmath>

#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/write_tables.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/page.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

constexpr std::size_t kMostChangeBars = 15, kMostChangeRows = 200;
constexpr double kChangeRow = 34, kChangeBar = 12, kChangeName = 14;

std::string_view table_title(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTitles{
      {{"step", "Step time"},
       {"parts", "Parts of the mean step"},
       {"idle", "Idle causes"},
       {"classes", "Classes of kernels"},
       {"kernels", "Kernels"},
       {"operators", "Operators"},
       {"collectives", "Collectives"},
       {"sequence", "Sequence of kernels"}}};
  const auto found = std::ranges::find_if(kTitles, [&](const auto& title) { return title.first == name; });
  return found == kTitles.end() ? name : found->second;
}

// Returns the fill of a part of the mean step. All classes of compute have one fill.
Fill part_fill(const std::string& name) {
  if (name == fill_name(Fill::exposed)) return Fill::exposed;
  if (name == "copies and memsets alone") return Fill::memory;
  for (std::size_t cause = 0; cause < kIdleFills.size(); ++cause) {
    if (name == "idle " + std::string(kIdleCauseNames[cause])) return kIdleFills[cause].fill;
  }
  return Fill::compute;
}

void write_before_and_after(Html& page, const ResultTable& parts) {
  const TableReading rows(parts);
  BarChart chart;
  chart.title = "Mean steps of A and B";
  chart.description =
      "Two bars, A above B: compute, exposed communication, copies and memsets alone, and idle time by its cause.";
  chart.quantity = "mean step";
  chart.parts = {BarPart(Fill::compute), BarPart(Fill::exposed), {"copies and memsets alone", Fill::memory}};
  for (const ColumnFill& cause : kIdleFills) chart.parts.emplace_back(cause.fill);
  Bar before{"A", std::vector<double>(chart.parts.size())}, after{"B", std::vector<double>(chart.parts.size())};
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const Fill fill = part_fill(rows.get<std::string>(row, "name").value_or(""));
    const auto part = std::ranges::find(chart.parts, fill, &BarPart::fill) - chart.parts.begin();
    before.values[static_cast<std::size_t>(part)] +=
        static_cast<double>(std::max<std::int64_t>(0, rows.number(row, "old_ns")));
    after.values[static_cast<std::size_t>(part)] +=
        static_cast<double>(std::max<std::int64_t>(0, rows.number(row, "new_ns")));
  }
  chart.bars = {std::move(before), std::move(after)};
  write_bars(page, chart);
}

// Draws one bar per row: to the left if it takes less time in B, to the right if it takes more.
void write_changes(Html& page, const ResultTable& table) {
  const TableReading rows(table);
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (const auto ns = rows.get<std::int64_t>(row, "difference_ns"); ns && *ns != 0)
      order.emplace_back(-std::abs(*ns), row);
  }
  if (order.empty()) return;
  std::ranges::sort(order);
  const auto most = static_cast<double>(-order.front().first);
  order.resize(std::min(order.size(), kMostChangeBars));
  const Element in_figure(page, "figure");
  open_chart(page, {table_title(table.name),
                    "Bars of the largest changes: to the left, less time in B; to the right, more time.",
                    kChangeRow * static_cast<double>(order.size()) + 4, 0});
  double y = 0;
  for (const auto& [minus_ns, row] : order) {
    const std::int64_t ns = rows.number(row, "difference_ns");
    const double length = 0.5 * static_cast<double>(std::abs(ns)) / most;
    const std::string name = rows.get<std::string>(row, "name").value_or("unknown"),
                      measure = rows.get<std::string>(row, "measure").value_or("");
    const std::string change =
        fmt::format("{}{} ({} to {})", ns > 0 ? "+" : "", duration_text(ns), duration_text(rows.number(row, "old_ns")),
                    duration_text(rows.number(row, "new_ns")));
    const std::string suffix = measure.empty() ? "" : ", " + measure;
    page.open("g");
    page.element("title", fmt::format("{}{}: {}", name, suffix, change));
    page.element("text", {{"class", "name"}, {"x", 0}, {"y", y + kChangeName}},
                 fmt::format("{}: {}{}", change, shortened_text(name, kMostLetters), suffix));
    page.empty("rect", {{"class", ns > 0 ? "terrible" : "good"},
                        {"x", across(ns > 0 ? 0.5 : 0.5 - length)},
                        {"y", y + kChangeName + 4},
                        {"width", across(std::max(length, 0.0005))},
                        {"height", kChangeBar}});
    page.close("g");
    y += kChangeRow;
  }
  page.empty("line", {{"class", "grid"}, {"x1", "50%"}, {"x2", "50%"}, {"y1", 0}, {"y2", y}});
  close_chart(page);
}

}  // namespace

std::string diff_page_html(const DiffPage& diff) {
  Html page;
  open_page(page, diff.title);
  page.open("header");
  page.element("h1", diff.title);
  page.close("header");
  page.open("main");
  page.open("section", {{"id", "verdict"}});
  for (std::string_view lines = diff.verdict; !lines.empty();) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    page.element("p", {{"class", lines.data() == diff.verdict.data() ? "sentence" : "note"}}, lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  write_before_and_after(page, diff.parts);
  write_folded_table(page, diff.parts, "parts of the mean step", kMostChangeRows,
                     fmt::format("tracetool diff {} --only parts --all", diff.inputs));
  page.close("section");
  std::string unchanged;
  for (const ResultTable& table : diff.changed) {
    if (table.name == "runs" || table.name == "parts") continue;
    if (table.rows.empty()) {
      unchanged += (unchanged.empty() ? "" : ", ") + std::string(table.name);
      continue;
    }
    const Element in_section(page, "section", {{"id", table.name}});
    page.element("h2", table_title(table.name));
    write_changes(page, table);
    write_folded_table(page, table, table_title(table.name), kMostChangeRows,
                       fmt::format("tracetool diff {} --only {}", diff.inputs, table.name));
  }
  if (!unchanged.empty()) page.element("p", {{"class", "note"}}, "Unchanged: " + unchanged);
  for (const ResultTable& table : diff.changed) {
    if (table.name == "runs") write_folded_table(page, table, "the runs", kMostChangeRows, "");
  }
  page.close("main");
  close_page(page);
  return page.all();
}

}  // namespace cli::report
