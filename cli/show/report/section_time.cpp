// Where the time of each rank went.
#include <fmt/format.h>

#include "cli/base/units.h"
#include "cli/show/report/rank_bars.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli {
namespace {

void write_time(const ReportFacts& facts, Html& page) {
  const TableReading gpus(facts.tables, "temporal");
  const auto parts_of = [&](std::size_t row) {
    const std::int64_t compute = gpus.number(row, "compute_ns"), exposed = gpus.number(row, "exposed_comm_ns");
    const std::int64_t alone = gpus.number(row, "busy_ns") - compute - exposed;
    return std::vector<double>{static_cast<double>(compute), static_cast<double>(exposed), static_cast<double>(alone), static_cast<double>(gpus.number(row, "idle_ns"))};
  };
  BarChart chart;
  chart.title = "Time of each GPU";
  chart.description = fmt::format("Time of {}: compute, exposed communication, copies and memsets alone, and idle.",
                                  count_text(gpus.rows(), "GPU"));
  chart.note = grouping_text(gpus.rows());
  chart.quantity = "time";
  chart.parts = {BarPart(Fill::compute), BarPart(Fill::exposed), {"copies and memsets alone", Fill::memory}, BarPart(Fill::idle)};
  chart.bars = gpu_bars(gpus, parts_of);
  write_bars(page, chart);
  write_folded_table(page, gpus.table(), facts, "time of each GPU");
}

}  // namespace

bool has_gpu_time(const ReportFacts& facts) { return TableReading(facts.tables, "temporal").sum("span_ns") > 0; }

SectionEntry time_per_rank_section() { return {"time", "Time per rank", {"temporal"}, write_time, has_gpu_time}; }

}  // namespace cli
