// The whole training steps in the chosen time, and the first ones, in which a process warms up.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/trace/steps.h"

namespace cli {

// The training steps with GPU work that the chosen time of their process holds as a whole, whatever rows stand for.
Windows whole_steps(const AnalysisContext& context);

// The first steps of a process, in which it compiles, tries algorithms and allocates: they say nothing of the others.

// How many of the first steps are unusual: of lengths with median m, of which the median distance is d, one is that differs from m
// by more than 5 d and by more than m / 10. They end with a long one: a first step that is known from its first launch on is
// short. Of fewer than 4 steps, or where half of all would be, none.
std::size_t warm_up_steps(const std::vector<Step>& steps);

}  // namespace cli
