// A rank's process: what happens after the parent started it.
#pragma once
#include "options.h"

namespace sim {

inline constexpr const char* kAreaVariable = "SIM_AREA_FD";

// The exit status.
int run_rank(const Options& options);

}  // namespace sim
