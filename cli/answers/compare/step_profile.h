// Collects the quantities of each step of a run (run_profile.h) in one walk.
#pragma once
#include <span>

#include "cli/answers/compare/run_profile.h"
#include "cli/answers/tables/analyze.h"

namespace cli::comparison {

// `profile` must outlive the walk and is complete after it. With `whole`, profiles the whole trace or --time instead of
// steps. With `for_diff`, collects also kernel sequences, collectives and operators; otherwise the launches of each
// kernel.
std::vector<TablesObserverEntry> profile_observers(RunProfile& profile, bool whole, bool for_diff);

// Events that `for_diff` needs in addition to GPU work.
inline KindSet operator_kinds() {
  return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::runtime, Kind::driver});
}

}  // namespace cli::comparison
