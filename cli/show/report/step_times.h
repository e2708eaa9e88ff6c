// The lengths of each training step over all ranks.
#pragma once
#include <vector>

#include "cli/answers/tables/analysis_table.h"

namespace cli::report {

// Returns one row per step of the table steps, sorted: step, ranks, shortest_ns, median_ns, longest_ns, longest_rank,
// warm_up.
ResultTable step_times(const std::vector<ResultTable>& tables);

}  // namespace cli::report
