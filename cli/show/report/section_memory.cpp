// GPU memory in use, if the trace has it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cli/answers/tables/percentile.h"
#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

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
}

}  // namespace

SectionEntry memory_section() { return {"memory", "Memory", {"memory"}, write_memory, has_memory}; }

}  // namespace cli::report
