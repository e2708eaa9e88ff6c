// What to say when something that was chosen is not there: what there is.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/steps.h"
#include "cli/select/number_ranges.h"
#include "cli/select/time_range.h"

namespace cli {

// All throw Error (usage). The first two return where all that was chosen by number is there; steps: in any of the
// chosen processes.
void check_ranks_exist(const NumberRanges& wanted, const Catalog& catalog);
void check_steps_exist(const NumberRanges& wanted, const Steps& steps, const std::vector<bool>& processes);
[[noreturn]] void refuse_time(const TimeRange& wanted, std::int64_t span_ns);

}  // namespace cli
