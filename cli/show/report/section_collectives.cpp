// Bandwidth of collectives, and waits between ranks.

#include <algorithm>
#include <map>

#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/table_html.h"

namespace cli::report {

namespace {

// Bandwidth of collectives.

constexpr std::size_t kMostBandwidths = 20;

std::string bandwidth_label(const TableReading& comm, std::size_t row) {
  std::string label = comm.get<std::string>(row, "op").value_or("unknown");
  if (const auto bytes = comm.get<std::int64_t>(row, "from_bytes"); bytes && *bytes >= 0)
    label += " from " + bytes_text(static_cast<std::uint64_t>(*bytes));
  if (const auto name = comm.get<std::string>(row, "communicator")) label += ", communicator " + *name;
  return label;
}

void write_bandwidth(const ReportFacts& facts, Html& page) {
  const TableReading comm(facts.tables, "comm");
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t row = 0; row < comm.rows(); ++row) {
    if (comm.get<double>(row, "busbw_gb_per_s")) order.emplace_back(-comm.number(row, "time_ns"), row);
  }
  std::ranges::sort(order);
  order.resize(std::min(order.size(), kMostBandwidths));
  BarChart chart;
  chart.title = "Bus bandwidth of collectives";
  chart.description = fmt::format(
      "Median and best bus bandwidth of the {} kinds of collectives that took the most time and have a known transfer time.",
      order.size());
  chart.quantity = "bus bandwidth";
  chart.unit = Unit::rate;
  chart.labels_above = true;
  chart.parts = {{"median", Fill::communication}, {"up to the best", Fill::idle}};
  for (const auto& [time, row] : order) {
    const double median = *comm.get<double>(row, "busbw_gb_per_s"),
                 best = comm.get<double>(row, "best_busbw_gb_per_s").value_or(median);
    chart.bars.push_back({bandwidth_label(comm, row), {median, std::max(0.0, best - median)}});
  }
  if (chart.bars.empty()) {
    write_paragraph(page, "No collective has a known bandwidth: sizes or ranks are missing from the trace.");
  } else {
    write_bars(page, chart);
  }
  write_folded_table(page, *find_table(facts, "comm"), facts, "collectives by communicator, operation and size");
}

// Waits between ranks.

// Returns the ranks with the longest waits for them. If not all fit, the last column is the sum of the rest.
std::vector<std::int64_t> waited_for(const TableReading& waits, const std::set<std::int64_t>& culprits) {
  std::map<std::int64_t, std::int64_t> sums;
  for (std::size_t row = 0; row < waits.rows(); ++row)
    sums[waits.get<std::int64_t>(row, "for_rank").value_or(-1)] += waits.number(row, "wait_ns");
  std::vector<std::int64_t> ranks;
  for (const auto& [rank, ns] : sums) ranks.push_back(rank);
  if (ranks.size() <= kMostTextColumns) return ranks;
  const auto place = [&](std::int64_t rank) { return std::pair(!culprits.contains(rank), -sums[rank]); };
  std::ranges::sort(ranks, [&](std::int64_t a, std::int64_t b) { return place(a) < place(b); });
  ranks.resize(kMostTextColumns - 1);
  std::ranges::sort(ranks);
  return ranks;
}

std::set<std::int64_t> stragglers_of(const TableReading& ranks) {
  std::set<std::int64_t> found;
  for (std::size_t row = 0; row < ranks.rows(); ++row) {
    if (ranks.get<bool>(row, "straggler").value_or(false))
      found.insert(ranks.get<std::int64_t>(row, "rank").value_or(-1));
  }
  return found;
}

std::string rank_name(std::int64_t rank) { return rank < 0 ? std::string("unknown") : fmt::format("rank {}", rank); }

// Returns one row per rank with its waits for the rank of each column.
std::vector<Bar> waits_of_ranks(const TableReading& waits, const std::vector<std::int64_t>& columns,
                                std::size_t column_count) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<double>> rows;
  for (std::size_t row = 0; row < waits.rows(); ++row) {
    const auto phase = waits.get<std::string>(row, "phase");
    std::vector<double>& values =
        rows.try_emplace({waits.get<std::int64_t>(row, "rank").value_or(-1), phase ? " " + *phase : ""}, column_count)
            .first->second;
    const auto at = std::ranges::find(columns, waits.get<std::int64_t>(row, "for_rank").value_or(-1));
    values[std::min<std::size_t>(static_cast<std::size_t>(at - columns.begin()), column_count - 1)] +=
        static_cast<double>(waits.number(row, "wait_ns"));
  }
  std::vector<Bar> bars;
  for (auto& [who, values] : rows) bars.push_back({rank_name(who.first) + who.second, std::move(values), who.first});
  return bars;
}

// Returns the number in the unit of the axis, with three digits or as an integer.
std::string field_text(double value, const Axis& axis) {
  const double shown = value / axis.divisor;
  return fmt::format("{:.{}f}", shown, shown < 10 ? 2 : shown < 100 ? 1 : 0);
}

HeatRow row_of(const Bar& bar, const std::vector<std::string>& columns, const Axis& axis, bool is_sum) {
  HeatRow row{bar.label, {}, is_sum};
  const double most = *std::ranges::max_element(bar.values);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (bar.values[i] <= 0) {
      row.fields.emplace_back();
      continue;
    }
    const std::string time = duration_text(static_cast<std::int64_t>(bar.values[i]));
    row.fields.push_back(HeatField{bar.values[i] / most, field_text(bar.values[i], axis),
                                   fmt::format("{} waited {} for {}", bar.label, time, columns[i])});
  }
  return row;
}

void write_wait_matrix(Html& page, const ReportFacts& facts) {
  const TableReading waits(facts.waits.by_rank);
  const std::set<std::int64_t> culprits = stragglers_of(TableReading(facts.tables, "stragglers"));
  const std::vector<std::int64_t> ranks = waited_for(waits, culprits);
  HeatMap map;
  map.title = "Time that each rank waited for each other rank";
  map.description =
      "Rows are ranks that waited; columns are ranks that started a collective last. A field shows the time waited; darker is longer. The last row is the sum. Empty fields: no wait.";
  std::vector<std::string> names;  // texts of the columns
  for (const std::int64_t rank : ranks) {
    if (culprits.contains(rank)) map.culprits.insert(map.columns.size());
    map.columns.push_back(rank < 0 ? std::string("?") : fmt::format("{}", rank));
    names.push_back(rank_name(rank));
  }
  std::set<std::int64_t> others;
  for (std::size_t row = 0; row < waits.rows(); ++row)
    others.insert(waits.get<std::int64_t>(row, "for_rank").value_or(-1));
  if (others.size() > ranks.size()) {
    map.columns.push_back("others");
    names.push_back(fmt::format("{} others", others.size() - ranks.size()));
  }
  const std::vector<Bar> bars = waits_of_ranks(waits, ranks, map.columns.size());
  Bar sum{"all ranks", std::vector<double>(map.columns.size())};
  for (const Bar& bar : bars) {
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += bar.values[i];
  }
  double most = 0;
  const std::vector<Bar> shown = grouped(bars);
  for (const Bar& bar : shown) most = std::max(most, *std::ranges::max_element(bar.values));
  const Axis axis = axis_for(most, Unit::ns);
  map.columns_are = fmt::format("Time waited, {}. Rows: waiting ranks; columns: ranks that started last.", axis.unit);
  for (const Bar& bar : shown) {
    HeatRow row = row_of(bar, names, axis, false);
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (row.fields[i]) row.fields[i]->heat = bar.values[i] / most;
    }
    map.rows.push_back(std::move(row));
  }
  map.rows.push_back(row_of(sum, names, axis, true));
  if (shown.size() < bars.size())
    page.element("p", {{"class", "caption"}},
                 "Each row is the mean of neighbouring ranks; the table has each of them.");
  write_heat_map(page, map);
}

bool has_waits(const ReportFacts& facts) {
  const TableReading ranks(facts.tables, "stragglers");
  return !facts.waits.by_rank.rows.empty() ||
         ranks.sum("late_ns") + ranks.sum("waited_ns") + ranks.sum("others_waited_ns") != 0;
}

void write_stragglers(const ReportFacts& facts, Html& page) {
  if (facts.waits.by_rank.rows.empty()) {
    write_paragraph(page, "No collective in the trace has all of its ranks, so waits between ranks are unknown.");
  } else {
    write_wait_matrix(page, facts);
    write_folded_table(page, facts.waits.by_rank, facts, "waits of each rank for each other rank",
                       {.source = "collectives"});
    write_folded_table(page, facts.waits.by_communicator, facts, "waits of each rank in each communicator",
                       {.source = "collectives"});
  }
  if (const ResultTable* const table = find_table(facts, "stragglers"))
    write_folded_table(page, *table, facts, "how late each rank is, and why");
}

}  // namespace

SectionEntry bandwidth_section() {
  return {"bandwidth", "Collective bandwidth", {"comm"}, write_bandwidth, has_rows("comm")};
}

SectionEntry stragglers_section() {
  return {"stragglers", "Waiting for ranks", {"stragglers"}, write_stragglers, has_waits};
}

}  // namespace cli::report
