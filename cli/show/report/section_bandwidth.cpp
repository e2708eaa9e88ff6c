// How fast collectives were.
#include <fmt/format.h>

#include <algorithm>

#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"
#include "cli/answers/tables/analysis_table.h"

namespace cli {
namespace {

constexpr std::size_t kMostBandwidths = 20;

std::string bandwidth_label(const TableReading& comm, std::size_t row) {
  std::string label = comm.get<std::string>(row, "op").value_or("unknown");
  if (const auto bytes = comm.get<std::int64_t>(row, "from_bytes"); bytes && *bytes >= 0) label += " from " + bytes_text(static_cast<std::uint64_t>(*bytes));
  if (const auto name = comm.get<std::string>(row, "communicator")) label += ", communicator " + *name;
  return label;
}

bool has_collectives(const ReportFacts& facts) { return find_table(facts, "comm") != nullptr; }

void write_bandwidth(const ReportFacts& facts, Html& page) {
  const TableReading comm(facts.tables, "comm");
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t row = 0; row < comm.rows(); ++row) {
    if (comm.get<double>(row, "busbw_gb_per_s")) order.emplace_back(-comm.number(row, "time_ns"), row);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), kMostBandwidths));
  BarChart chart;
  chart.title = "Bus bandwidth of collectives";
  chart.description = fmt::format("Median and best bus bandwidth of the {} kinds of collectives that took the most time and have a known transfer time.", order.size());
  chart.quantity = "bus bandwidth";
  chart.unit = Unit::rate;
  chart.labels_above = true;
  chart.parts = {{"median", Fill::communication}, {"up to the best", Fill::idle}};
  for (const auto& [time, row] : order) {
    const double median = *comm.get<double>(row, "busbw_gb_per_s"), best = comm.get<double>(row, "best_busbw_gb_per_s").value_or(median);
    chart.bars.push_back({bandwidth_label(comm, row), {median, std::max(0.0, best - median)}});
  }
  if (chart.bars.empty()) {
    write_paragraph(page, "No collective has a known bandwidth: sizes or ranks are missing from the trace.");
  } else {
    write_bars(page, chart);
  }
  write_folded_table(page, *find_table(facts, "comm"), facts, "collectives by communicator, operation and size");
}

}  // namespace

SectionEntry bandwidth_section() { return {"bandwidth", "Collective bandwidth", {"comm"}, write_bandwidth, has_collectives}; }

}  // namespace cli
