// Sections with a bar for each GPU: its time by activity, communication, idle time, phases and memory.

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/percentile.h"
#include "cli/answers/tables/summary.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/table_html.h"

namespace cli::report {

namespace {

// The time of each rank by activity.

void write_time(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "temporal");
  BarChart chart{"Time of each GPU",
                 fmt::format("Time of {}: compute, exposed communication, copies and memsets alone, and idle.",
                             count_text(gpus.rows(), "GPU"))};
  chart.quantity = "time";
  chart.parts = {
      BarPart(Fill::compute), BarPart(Fill::exposed), {"copies and memsets alone", Fill::memory}, BarPart(Fill::idle)};
  write_gpu_bars(page, std::move(chart), gpus, [&](std::size_t row) {
    const std::int64_t compute = gpus.number(row, "compute_ns"), exposed = gpus.number(row, "exposed_comm_ns");
    const std::int64_t alone = gpus.number(row, "busy_ns") - compute - exposed;
    return std::vector<double>{static_cast<double>(compute), static_cast<double>(exposed), static_cast<double>(alone),
                               static_cast<double>(gpus.number(row, "idle_ns"))};
  });
  write_folded_table(page, gpus.table(), facts, "time of each GPU");
}

// Overlap of communication with compute.

bool has_communication(const ReportFacts& facts) { return TableReading(facts.tables, "temporal").sum("comm_ns") > 0; }

void write_overlap(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "temporal");
  BarChart chart{"Communication of each GPU",
                 fmt::format("Communication of {}: hidden by compute, and exposed.", count_text(gpus.rows(), "GPU"))};
  chart.quantity = "time";
  chart.parts = {{"hidden by compute", Fill::communication}, {"exposed", Fill::exposed}};
  write_gpu_bars(page, std::move(chart), gpus, [&](std::size_t row) {
    const std::int64_t comm = gpus.number(row, "comm_ns"), exposed = gpus.number(row, "exposed_comm_ns");
    return std::vector<double>{static_cast<double>(comm - exposed), static_cast<double>(exposed)};
  });
  if (const ResultTable* const table = find_table(facts, "overlap"))
    write_folded_table(page, *table, facts, "each communicator of each GPU");
}

// Idle time by cause.

bool has_idle(const ReportFacts& facts) { return TableReading(facts.tables, "idle").sum("idle_ns") > 0; }

void write_idle(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "idle");
  BarChart chart{"Idle time of each GPU by cause",
                 fmt::format("Idle time of {} by host activity.", count_text(gpus.rows(), "GPU"))};
  chart.quantity = "idle time";
  write_gpu_bars(page, std::move(chart), gpus, kIdleFills);
  write_folded_table(page, gpus.table(), facts, "idle time of each GPU");
}

// The forward, backward and optimizer times of each GPU's mean step.

constexpr std::array kPhaseFills{ColumnFill{"forward_ns", Fill::forward}, ColumnFill{"backward_ns", Fill::backward},
                                 ColumnFill{"optimizer_ns", Fill::optimizer},
                                 ColumnFill{"comm_ns", Fill::communication}, ColumnFill{"other_ns", Fill::other}};

bool has_phases(const ReportFacts& facts) {
  const TableReading rows(facts.tables, "step_phases");
  return rows.sum("forward_ns") + rows.sum("backward_ns") + rows.sum("optimizer_ns") > 0;
}

// Returns one row per GPU, without the steps in `warm_ups`.
ResultTable mean_phases(const TableReading& rows, const std::set<std::int64_t>& warm_ups) {
  ResultTable table{"mean_phases", {kRankColumn, kPhaseColumn, kDeviceColumn}};
  for (const ColumnFill& part : kPhaseFills) table.columns.push_back({part.key, Unit::ns, "Mean over the steps"});
  struct Sums {
    std::array<std::int64_t, std::size(kPhaseFills)> ns{};
    std::int64_t steps = 0;
  };
  std::map<std::tuple<std::int64_t, std::string, std::int64_t>, Sums> gpus;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (warm_ups.contains(rows.number(row, "step"))) continue;
    Sums& sums =
        gpus[{rows.get<std::int64_t>(row, "rank").value_or(-1), rows.get<std::string>(row, "phase").value_or(""),
              rows.get<std::int64_t>(row, "device").value_or(-1)}];
    for (std::size_t i = 0; i < sums.ns.size(); ++i) sums.ns[i] += rows.number(row, kPhaseFills[i].key);
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
  ResultTable means = mean_phases(rows, warm_up_numbers(facts.tables));
  if (means.rows.empty()) means = mean_phases(rows, {});
  const TableReading gpus(means);
  BarChart chart{
      "Busy time of the mean step by phase",
      fmt::format(
          "Busy time of {} in the mean step: forward, backward, optimizer, communication alone, and other work.",
          count_text(gpus.rows(), "GPU"))};
  chart.quantity = "busy time of the mean step";
  write_gpu_bars(page, std::move(chart), gpus, kPhaseFills);
  write_folded_table(page, rows.table(), facts, "phases of each step");
}

// GPU memory in use, if the trace has it.

// True for a GPU with a known peak. Host memory is shown only in the table.
bool knows_peak(const TableReading& memory, std::size_t row) {
  return memory.get<std::int64_t>(row, "peak_bytes").has_value() && memory.get<std::int64_t>(row, "device").has_value();
}

bool has_memory(const ReportFacts& facts) {
  const TableReading memory(facts.tables, "memory");
  for (std::size_t row = 0; row < memory.rows(); ++row) {
    if (knows_peak(memory, row)) return true;
  }
  return false;
}

// The peak memory of each step over all GPUs. Writes nothing for fewer than two steps.
void write_memory_by_step(const ReportFacts& facts, Html& page) {
  const TableReading memory(facts.by_step, "memory");
  std::map<std::int64_t, std::vector<std::int64_t>> peaks;
  for (std::size_t row = 0; row < memory.rows(); ++row) {
    const auto step = memory.get<std::int64_t>(row, "step");
    if (step && knows_peak(memory, row)) peaks[*step].push_back(memory.number(row, "peak_bytes"));
  }
  if (peaks.size() < 2) return;
  SpreadChart chart{
      "Peak memory in use in each step",
      "Steps from left to right. A dot is the median over the GPUs; a bar goes from the least to the most.",
      "peak memory in use",
      "step",
      Unit::bytes,
      {}};
  const std::size_t each = (peaks.size() + kMostSpreadMarks - 1) / kMostSpreadMarks;
  for (auto at = peaks.begin(); at != peaks.end();) {
    const std::int64_t first = at->first;
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < each && at != peaks.end(); ++i, ++at)
      all.insert(all.end(), at->second.begin(), at->second.end());
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    const std::int64_t least_bytes = *least, most_bytes = *most, middle_bytes = median(all);
    const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); };
    chart.marks.push_back({fmt::format("{}", first),
                           fmt::format("step {}: least {}, median {}, most {}", first, text(least_bytes),
                                       text(middle_bytes), text(most_bytes)),
                           static_cast<double>(least_bytes), static_cast<double>(middle_bytes),
                           static_cast<double>(most_bytes)});
  }
  write_spread(page, chart);
  ResultTable table = memory.table();
  table.name = "memory_by_step";
  write_folded_table(
      page, table, facts, "memory of each GPU in each step",
      {.command = fmt::format("tracetool analyze {}{} --only memory --by step", facts.inputs, facts.selected)});
}

void write_memory(const ReportFacts& facts, Html& page) {
  const TableReading memory(facts.tables, "memory");
  BarChart chart;
  chart.title = "Peak memory in use";
  chart.quantity = "peak in use";
  chart.unit = Unit::bytes;
  chart.parts = {{"in use", Fill::memory}};
  std::vector<Bar> bars;
  for (std::size_t row = 0; row < memory.rows(); ++row) {
    if (knows_peak(memory, row))
      bars.push_back({gpu_label(memory, row),
                      {static_cast<double>(memory.number(row, "peak_bytes"))},
                      memory.get<std::int64_t>(row, "rank").value_or(-1)});
  }
  chart.description = fmt::format("Peak memory in use on {}.", count_text(bars.size(), "GPU"));
  chart.note = grouping_text(bars.size());
  chart.bars = grouped(std::move(bars));
  write_bars(page, chart);
  write_folded_table(page, memory.table(), facts, "memory of each GPU");
  write_memory_by_step(facts, page);
  page.markup(facts.memory);
}

}  // namespace

bool has_gpu_time(const ReportFacts& facts) { return TableReading(facts.tables, "temporal").sum("span_ns") > 0; }

SectionEntry time_per_rank_section() { return {"time", "Time per rank", {"temporal"}, write_time, has_gpu_time}; }

SectionEntry overlap_section() {
  return {"overlap", "Overlap", {"temporal", "overlap"}, write_overlap, has_communication};
}

SectionEntry idle_section() { return {"idle", "Idle causes", {"temporal", "idle"}, write_idle, has_idle}; }

SectionEntry phases_section() {
  return {"phases", "Forward, backward, optimizer", {"step_phases"}, write_phases, has_phases};
}

SectionEntry memory_section() { return {"memory", "Memory", {"memory"}, write_memory, has_memory}; }

}  // namespace cli::report
