// Collects what a run did in each of its steps (run_profile.h), in one walk.
#pragma once
#include "cli/answers/tables/analyze.h"
#include "cli/answers/compare/run_profile.h"

namespace cli::comparison {

// `profile` outlives the walk, and holds all after it. `whole`: the whole trace, or --time, in place of steps. With
// `for_diff` the kernels of a step in their order, collectives and operators, too; without it the launches of each kernel.
std::vector<TablesObserverEntry> profile_observers(RunProfile& profile, bool whole, bool for_diff);

// One for collectives, and one for operators, behind that for the rest.
TablesObserverEntry collective_observer(RunProfile& profile, bool whole);
TablesObserverEntry operator_observer(RunProfile& profile, bool whole);

// Events that operator_observer() takes, besides GPU work.
inline KindSet operator_kinds() { return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::runtime, Kind::driver}); }

}  // namespace cli::comparison
