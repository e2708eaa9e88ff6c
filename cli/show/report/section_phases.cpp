// Bars with the forward, backward and optimizer times of each GPU's mean step.
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/summary.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

struct PhasePart {
  const char* key;
  Fill fill;
};
constexpr PhasePart kPhaseParts[] = {{"forward_ns", Fill::forward},
                                     {"backward_ns", Fill::backward},
                                     {"optimizer_ns", Fill::optimizer},
                                     {"comm_ns", Fill::communication},
                                     {"other_ns", Fill::other}};

bool has_phases(const ReportFacts& facts) {
  const TableReading rows(facts.tables, "step_phases");
  return rows.sum("forward_ns") + rows.sum("backward_ns") + rows.sum("optimizer_ns") > 0;
}

// Returns one row per GPU, without the steps in `warm_ups`.
ResultTable mean_phases(const TableReading& rows, const std::set<std::int64_t>& warm_ups) {
  ResultTable table{"mean_phases", {kRankColumn, kPhaseColumn, kDeviceColumn}, {}, {}};
  for (const PhasePart& part : kPhaseParts) table.columns.push_back({part.key, Unit::ns, "Mean over the steps"});
  struct Sums {
    std::array<std::int64_t, std::size(kPhaseParts)> ns{};
    std::int64_t steps = 0;
  };
  std::map<std::tuple<std::int64_t, std::string, std::int64_t>, Sums> gpus;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (warm_ups.contains(rows.number(row, "step"))) continue;
    Sums& sums =
        gpus[{rows.get<std::int64_t>(row, "rank").value_or(-1), rows.get<std::string>(row, "phase").value_or(""),
              rows.get<std::int64_t>(row, "device").value_or(-1)}];
    for (std::size_t i = 0; i < sums.ns.size(); ++i) sums.ns[i] += rows.number(row, kPhaseParts[i].key);
    ++sums.steps;
  }
  for (const auto& [who, sums] : gpus) {
    const auto& [rank, phase, device] = who;
    auto& cells = table.rows.emplace_back();
    rank < 0 ? cells.emplace_back() : cells.emplace_back(rank);
    phase.empty() ? cells.emplace_back() : cells.emplace_back(phase);
    device < 0 ? cells.emplace_back() : cells.emplace_back(device);
    for (const std::int64_t ns : sums.ns) cells.emplace_back(ns / sums.steps);
  }
  return table;
}

void write_phases(const ReportFacts& facts, Html& page) {
  const TableReading rows(facts.tables, "step_phases");
  std::vector<ResultTable> means{mean_phases(rows, warm_up_numbers(facts.tables))};
  if (means.front().rows.empty()) means.front() = mean_phases(rows, {});
  const TableReading gpus(means, "mean_phases");
  BarChart chart;
  chart.title = "Busy time of the mean step by phase";
  chart.description = fmt::format(
      "Busy time of {} in the mean step: forward, backward, optimizer, communication alone, and other work.",
      count_text(gpus.rows(), "GPU"));
  chart.note = grouping_text(gpus.rows());
  chart.quantity = "busy time of the mean step";
  for (const PhasePart& part : kPhaseParts) chart.parts.emplace_back(part.fill);
  chart.bars = gpu_bars(gpus, [&](std::size_t row) {
    std::vector<double> values;
    for (const PhasePart& part : kPhaseParts) values.push_back(static_cast<double>(gpus.number(row, part.key)));
    return values;
  });
  write_bars(page, chart);
  write_folded_table(page, rows.table(), facts, "phases of each step");
}

}  // namespace

SectionEntry phases_section() {
  return {"phases", "Forward, backward, optimizer", {"step_phases"}, write_phases, has_phases};
}

}  // namespace cli::report
