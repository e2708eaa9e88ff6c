#include "cli/select/refusals.h"

#include <fmt/format.h>

#include <set>

#include "cli/io/units.h"
#include "cli/model/error.h"
#include "cli/model/rank_list.h"

namespace cli {

void check_ranks_exist(const NumberRanges& wanted, const Catalog& catalog) {
  std::set<std::int64_t> ranks;
  for (const Process& process : catalog.processes) ranks.insert(process.rank);
  ranks.erase(-1);
  const auto missing = wanted.first_missing(ranks);
  if (!missing) return;
  const std::string all = rank_list({ranks.begin(), ranks.end()});
  throw Error(Exit::usage, fmt::format("--ranks {}: there is no rank {}; there {} {}", wanted.text(), *missing,
                                       ranks.size() == 1 ? "is" : "are", all.empty() ? "none" : all));
}

void check_steps_exist(const NumberRanges& wanted, const Steps& steps, const std::vector<bool>& processes) {
  std::set<std::int64_t> numbers;
  for (std::size_t id = 0; id < steps.size(); ++id) {
    if (!processes[id]) continue;
    for (const Step& step : steps[id]) numbers.insert(step.number);
  }
  if (numbers.empty()) {
    throw Error(Exit::usage, fmt::format("--steps {}: no range of this trace is named as a training step is "
                                         "(ProfilerStep#3, \"step 3\", ...: docs/export.md); choose with --time",
                                         wanted.text()));
  }
  const auto missing = wanted.first_missing(numbers);
  if (!missing) return;
  throw Error(Exit::usage, fmt::format("--steps {}: there is no step {}; there are {}", wanted.text(), *missing,
                                       number_list({numbers.begin(), numbers.end()})));
}

void refuse_time(const TimeRange& wanted, std::int64_t span_ns) {
  throw Error(Exit::usage, fmt::format("--time: begins {} after the trace's start, but the trace lasts {}",
                                       duration_text(wanted.from_ns), duration_text(span_ns)));
}

}  // namespace cli
