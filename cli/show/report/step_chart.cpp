#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/answers/tables/median.h"
#include "cli/answers/tables/table_reading.h"
#include "cli/base/units.h"
#include "cli/show/report/spread_chart.h"
#include "cli/show/report/step_times.h"

namespace cli {
namespace {

// Returns one mark for each step, or for several steps if there are more steps than kMostSpreadMarks.
std::vector<SpreadMark> marks_of(const TableReading& steps) {
  std::vector<SpreadMark> marks;
  const std::size_t each = (steps.rows() + kMostSpreadMarks - 1) / kMostSpreadMarks;
  for (std::size_t from = 0; from < steps.rows(); from += each) {
    const std::size_t to = std::min(steps.rows(), from + each);
    const std::int64_t first = steps.number(from, "step"), last = steps.number(to - 1, "step");
    std::int64_t shortest_ns = steps.number(from, "shortest_ns"), longest_ns = 0;
    std::vector<std::int64_t> medians;
    bool warm_up = false;
    for (std::size_t row = from; row < to; ++row) {
      medians.push_back(steps.number(row, "median_ns"));
      shortest_ns = std::min(shortest_ns, steps.number(row, "shortest_ns"));
      longest_ns = std::max(longest_ns, steps.number(row, "longest_ns"));
      warm_up = warm_up || steps.get<bool>(row, "warm_up").value_or(false);
    }
    const std::int64_t median_ns = median(medians);
    std::string text = fmt::format("{}{}: shortest {}, median {}, longest {}", first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last),
                                   warm_up ? " (warm-up)" : "", duration_text(shortest_ns), duration_text(median_ns), duration_text(longest_ns));
    marks.push_back({fmt::format("{}", first), std::move(text), static_cast<double>(shortest_ns), static_cast<double>(median_ns), static_cast<double>(longest_ns), warm_up});
  }
  return marks;
}

}  // namespace

void write_step_chart(Html& page, const ResultTable& steps) {
  const std::vector<ResultTable> one{steps};
  write_spread(page, {"Duration of each training step",
                      "Steps from left to right. A dot is the median over the ranks; a bar goes from the shortest to the longest rank. Warm-up steps have hollow "
                      "dots. A triangle marks a step above the chart.",
                      "duration", "step", Unit::ns, marks_of(TableReading(one, steps.name))});
}

}  // namespace cli
