// The lengths of each training step over all ranks.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/answers/tables/analysis_table.h"
#include "cli/show/report/html.h"

namespace cli {

// A row for each step of the table steps: step, ranks, shortest_ns, median_ns, longest_ns, longest_rank, warm_up. Ascending.
ResultTable step_times(const std::vector<ResultTable>& tables);

// A line of the medians, and from the shortest to the longest. Steps of warm-up do not make its scale.
void write_step_chart(Html& page, const ResultTable& steps);

}  // namespace cli
