// What to say when nothing matches a choice: what there is.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/steps.h"
#include "cli/select/number_ranges.h"
#include "cli/select/time_range.h"

namespace cli {

// All throw Error (usage).
[[noreturn]] void refuse_ranks(const NumberRanges& wanted, const Catalog& catalog);
[[noreturn]] void refuse_steps(const NumberRanges& wanted, const Steps& steps, const std::vector<bool>& processes);
[[noreturn]] void refuse_time(const TimeRange& wanted, std::int64_t span_ns);

}  // namespace cli
