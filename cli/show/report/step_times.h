// The lengths of each training step over all ranks.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/html.h"
#include "cli/show/report/section.h"

namespace cli::report {

// Returns one row per step of the table steps, sorted: step, ranks, shortest_ns, median_ns, longest_ns, longest_rank,
// warm_up.
ResultTable step_times(const std::vector<ResultTable>& tables);

// Writes a chart with a line of the medians and the range from shortest to longest. Warm-up steps do not affect its
// scale.
void write_step_chart(Html& page, const ResultTable& steps);

// Writes the heat map of steps by rank: how much longer or shorter each step took than on the other ranks. Writes
// nothing for fewer than two ranks or three steps; a table is enough then.
void write_step_heat(Html& page, const ReportFacts& facts);

}  // namespace cli::report
