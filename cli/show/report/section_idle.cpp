// Idle time of GPUs by cause.
#include "cli/show/report/section_idle.h"

#include <fmt/format.h>

#include "cli/base/text.h"
#include "cli/show/report/bar_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {

namespace {

bool has_idle(const ReportFacts& facts) { return TableReading(facts.tables, "idle").sum("idle_ns") > 0; }

void write_idle(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "idle");
  BarChart chart;
  chart.title = "Idle time of each GPU by cause";
  chart.description = fmt::format("Idle time of {} by host activity.", count_text(gpus.rows(), "GPU"));
  chart.note = grouping_text(gpus.rows());
  chart.quantity = "idle time";
  for (const IdleFill& cause : kIdleFills) chart.parts.emplace_back(cause.fill);
  chart.bars = gpu_bars(gpus, [&](std::size_t row) {
    std::vector<double> values;
    for (const IdleFill& cause : kIdleFills) values.push_back(static_cast<double>(gpus.number(row, cause.key)));
    return values;
  });
  write_bars(page, chart);
  write_folded_table(page, gpus.table(), facts, "idle time of each GPU");
}

}  // namespace

SectionEntry idle_section() { return {"idle", "Idle causes", {"temporal", "idle"}, write_idle, has_idle}; }

}  // namespace cli::report
