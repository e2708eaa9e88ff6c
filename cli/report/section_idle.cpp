// Why GPUs were idle.
#include <fmt/format.h>

#include <array>

#include "cli/io/units.h"
#include "cli/report/rank_bars.h"
#include "cli/report/section.h"
#include "cli/report/table_html.h"

namespace cli {
namespace {

struct IdleCause {
  const char* key;
  Fill fill;
};
constexpr std::array kIdleCauses{IdleCause{"sync_ns", Fill::waiting},        IdleCause{"copy_ns", Fill::blocking_copy}, IdleCause{"after_sync_ns", Fill::after_wait},
                                 IdleCause{"host_late_ns", Fill::host_late}, IdleCause{"launch_ns", Fill::launching},   IdleCause{"queued_ns", Fill::queued},
                                 IdleCause{"unexplained_ns", Fill::unexplained}};

void write_idle(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "idle");
  if (TableReading(facts.tables, "temporal").sum("span_ns") == 0) return write_paragraph(page, "There is no GPU work.");
  if (gpus.sum("idle_ns") == 0) return write_paragraph(page, "No GPU was idle between its first work and its last.");
  BarChart chart;
  chart.title = "Idle time of each GPU by its cause";
  chart.description = fmt::format("Of {}: idle time by what the host did meanwhile.", count_text(gpus.rows(), "GPU"));
  chart.note = grouping_text(gpus.rows());
  chart.quantity = "idle time";
  for (const IdleCause& cause : kIdleCauses) chart.parts.emplace_back(cause.fill);
  chart.bars = gpu_bars(gpus, [&](std::size_t row) {
    std::vector<double> values;
    for (const IdleCause& cause : kIdleCauses) values.push_back(static_cast<double>(gpus.number(row, cause.key)));
    return values;
  });
  write_bars(page, chart);
  write_folded_table(page, gpus.table(), facts, "idle time of each GPU");
}

}  // namespace

SectionEntry idle_section() { return {"idle", "Idle causes", {"temporal", "idle"}, write_idle}; }

}  // namespace cli
