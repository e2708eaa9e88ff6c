// Selects whole training steps, and finds the first steps in which a process warms up.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/trace/steps.h"

namespace cli {

// Returns the training steps with GPU work that lie entirely within the chosen time of their process, independent of
// what rows stand for.
Windows whole_steps(const AnalysisContext& context);

// The first steps of a process, in which it compiles, tries algorithms and allocates memory, are not representative.

// Returns how many of the first steps are unusual. A step is unusual if its length differs from the median m by more
// than 5 d and by more than m / 10, where d is the median absolute deviation. The last of them is a long step, because
// a first step that is known from its first launch on is short. Returns 0 for fewer than 4 steps, or if half of all
// steps would be unusual.
std::size_t warm_up_steps(const std::vector<Step>& steps);

}  // namespace cli
