// The lengths of each training step over all ranks.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/section.h"
#include "cli/show/report/html.h"

namespace cli::report {

// A row for each step of the table steps: step, ranks, shortest_ns, median_ns, longest_ns, longest_rank, warm_up. Ascending.
ResultTable step_times(const std::vector<ResultTable>& tables);

// A line of the medians, and from the shortest to the longest. Steps of warm-up do not make its scale.
void write_step_chart(Html& page, const ResultTable& steps);

// The heat map of steps by rank: how much longer or shorter each step took than on the other ranks.

// Writes nothing for fewer than two ranks or three steps; the table is enough then.
void write_step_heat(Html& page, const ReportFacts& facts);

}  // namespace cli::report
