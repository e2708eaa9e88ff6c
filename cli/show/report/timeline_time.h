// Which time of a trace a timeline shows: one step, over all ranks, else the first part of what is analyzed.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/analysis.h"

namespace cli {

// On the axis; `to_ns` does not belong to it.
struct ShownTime {
  std::optional<std::int64_t> step;
  std::int64_t from_ns = 0, to_ns = 0;

  std::int64_t length_ns() const { return to_ns - from_ns; }
};

// Of each step the time from its first start to its last end on any chosen rank, 1 ns at least; by number.
std::map<std::int64_t, ShownTime> times_of_steps(const AnalysisContext& context);

// `steps`: of times_of_steps(); `processes`: whose slices are shown, the first of which decides the step; `kinds`: of their slices, of which there should be at most about
// `most_slices` where there is no step. Throws Error (usage) where the step that was asked for is not there.
ShownTime shown_time(const AnalysisContext& context, const std::map<std::int64_t, ShownTime>& steps, std::optional<std::int64_t> step, const std::vector<ProcessId>& processes, KindSet kinds,
                     std::size_t most_slices, std::vector<std::string>& notes);

}  // namespace cli
