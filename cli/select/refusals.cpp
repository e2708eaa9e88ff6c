#include "cli/select/refusals.h"

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/io/units.h"
#include "cli/model/rank_list.h"

namespace cli {

void refuse_ranks(const NumberRanges& wanted, const Catalog& catalog) {
  std::vector<std::int64_t> ranks;
  for (const Process& process : catalog.processes) ranks.push_back(process.rank);
  const std::string all = rank_list(ranks);
  throw Error(Exit::usage, fmt::format("--ranks {}: no such rank; there {} {}", wanted.text(),
                                       ranks.size() == 1 ? "is" : "are", all.empty() ? "none" : all));
}

void refuse_steps(const NumberRanges& wanted, const Steps& steps, const std::vector<bool>& processes) {
  std::vector<std::int64_t> numbers;
  for (std::size_t id = 0; id < steps.size(); ++id) {
    if (!processes[id]) continue;
    for (const Step& step : steps[id]) numbers.push_back(step.number);
  }
  if (numbers.empty()) {
    throw Error(Exit::usage, fmt::format("--steps {}: no range of this trace is named as a training step is "
                                         "(ProfilerStep#3, \"step 3\", ...: docs/export.md); choose with --time",
                                         wanted.text()));
  }
  throw Error(Exit::usage, fmt::format("--steps {}: no such step; there are {}", wanted.text(), number_list(numbers)));
}

void refuse_time(const TimeRange& wanted, std::int64_t span_ns) {
  throw Error(Exit::usage, fmt::format("--time: begins {} after the trace's start, but the trace lasts {}",
                                       duration_text(wanted.from_ns), duration_text(span_ns)));
}

}  // namespace cli
