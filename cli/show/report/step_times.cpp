#include "cli/show/report/step_times.h"

#include <algorithm>
#include <map>

#include "cli/answers/tables/median.h"
#include "cli/answers/tables/table_reading.h"

namespace cli {
namespace {

struct StepOfRanks {
  std::vector<std::int64_t> lengths_ns;
  std::int64_t longest_ns = -1;
  Cell longest_rank;
  bool warm_up = false;
};

std::vector<Column> step_time_columns() {
  return {{"step", Unit::number, "Number of the training step"},
          {"ranks", Unit::count, "Number of ranks with a known duration of the step"},
          {"shortest_ns", Unit::ns, "Shortest duration on any rank"},
          {"median_ns", Unit::ns, "Median duration over the ranks"},
          {"longest_ns", Unit::ns, "Longest duration on any rank"},
          {"longest_rank", Unit::number, "Rank with the longest duration"},
          {"warm_up", Unit::yes_no, "Whether it is a warm-up step on any rank"}};
}

}  // namespace

ResultTable step_times(const std::vector<ResultTable>& tables) {
  const TableReading rows(tables, "steps");
  std::map<std::int64_t, StepOfRanks> steps;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const auto number = rows.get<std::int64_t>(row, "step"), length_ns = rows.get<std::int64_t>(row, "duration_ns");
    if (!number || !length_ns) continue;
    StepOfRanks& step = steps[*number];
    step.lengths_ns.push_back(*length_ns);
    step.warm_up = step.warm_up || rows.get<bool>(row, "warm_up").value_or(false);
    if (*length_ns <= step.longest_ns) continue;
    step.longest_ns = *length_ns;
    const auto rank = rows.get<std::int64_t>(row, "rank");
    step.longest_rank = rank ? Cell(*rank) : Cell();
  }
  ResultTable table{"step_times", step_time_columns(), {}, {}};
  for (auto& [number, step] : steps) {
    const auto [shortest, longest] = std::minmax_element(step.lengths_ns.begin(), step.lengths_ns.end());
    const std::int64_t shortest_ns = *shortest, longest_ns = *longest;
    table.rows.push_back({number, static_cast<std::int64_t>(step.lengths_ns.size()), shortest_ns, median(step.lengths_ns),
                          longest_ns, step.longest_rank, step.warm_up});
  }
  return table;
}

}  // namespace cli
