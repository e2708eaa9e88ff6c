// The first steps of a process, in which it compiles, tries algorithms and allocates: they say nothing of the others.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/trace/steps.h"

namespace cli {

// How many of the first steps are unusual: of lengths with median m, of which the median distance is d, one is that differs from m
// by more than 5 d and by more than m / 10. They end with a long one: a first step that is known from its first launch on is
// short. Of fewer than 4 steps, or where half of all would be, none.
std::size_t warm_up_steps(const std::vector<Step>& steps);

}  // namespace cli
