// How much memory of the GPUs was in use; where the input tells it.
#include <fmt/format.h>

#include <algorithm>

#include "cli/io/units.h"
#include "cli/report/rank_bars.h"
#include "cli/report/section.h"
#include "cli/report/table_html.h"

namespace cli {
namespace {

// Of a GPU: the host's memory is in the table alone.
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

void write_memory(const ReportFacts& facts, Html& page) {
  const TableReading memory(facts.tables, "memory");
  BarChart chart;
  chart.title = "Memory in use at most";
  chart.quantity = "in use at most";
  chart.unit = Unit::bytes;
  chart.parts = {{"in use", Fill::memory}};
  std::vector<Bar> bars;
  for (std::size_t row = 0; row < memory.rows(); ++row) {
    if (knows_peak(memory, row)) bars.push_back({gpu_label(memory, row), {static_cast<double>(memory.number(row, "peak_bytes"))}, memory.get<std::int64_t>(row, "rank").value_or(-1)});
  }
  chart.description = fmt::format("Of {}: the most memory that was in use.", count_text(bars.size(), "GPU"));
  chart.note = grouping_text(bars.size());
  chart.bars = grouped(std::move(bars));
  write_bars(page, chart);
  write_folded_table(page, memory.table(), facts, "memory of each GPU");
}

}  // namespace

SectionEntry memory_section() { return {"memory", "Memory", {"memory"}, write_memory, has_memory}; }

}  // namespace cli
