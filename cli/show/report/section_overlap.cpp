// Overlap of communication with compute.
#include <fmt/format.h>

#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

bool has_communication(const ReportFacts& facts) { return TableReading(facts.tables, "temporal").sum("comm_ns") > 0; }

void write_overlap(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "temporal");
  BarChart chart;
  chart.title = "Communication of each GPU";
  chart.description =
      fmt::format("Communication of {}: hidden by compute, and exposed.", count_text(gpus.rows(), "GPU"));
  chart.note = grouping_text(gpus.rows());
  chart.quantity = "time";
  chart.parts = {{"hidden by compute", Fill::communication}, {"exposed", Fill::exposed}};
  chart.bars = gpu_bars(gpus, [&](std::size_t row) {
    const std::int64_t comm = gpus.number(row, "comm_ns"), exposed = gpus.number(row, "exposed_comm_ns");
    return std::vector<double>{static_cast<double>(comm - exposed), static_cast<double>(exposed)};
  });
  write_bars(page, chart);
  if (const ResultTable* const table = find_table(facts, "overlap"))
    write_folded_table(page, *table, facts, "each communicator of each GPU");
}

}  // namespace

SectionEntry overlap_section() {
  return {"overlap", "Overlap", {"temporal", "overlap"}, write_overlap, has_communication};
}

}  // namespace cli::report
