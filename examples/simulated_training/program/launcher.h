// The parent: starts one process per rank as torchrun does, and waits for them.
#pragma once
#include "options.h"

namespace sim {

// 0 when every rank ended with 0; 2 where something could not be opened or started; else 3.
int launch_ranks(const Options& options, char** argv);

}  // namespace sim
