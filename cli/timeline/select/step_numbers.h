// One number for one step on all ranks. Programs number their steps alike; those of other steps count
// from 0 on each rank, whose recording begins when it begins. Of those of one run (and of one phase of it) each rank's are
// moved by the number that puts most of them beside what runs at the same time, on the axis, on the rank with most steps;
// the first step of all is 0 again. Ranks run in step, so that clocks may be wrong by a half of a step.
//
// Where some ranks of the run name their steps, the others' get the numbers of the named rank with most steps.
//
// A rank that shares no time with that one counts by itself, and so does one that would be moved by one number for no more than half of its
// steps, where that one names its steps (a period may be two of them): ProcessSteps::alike says which do not.
#pragma once
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"

namespace cli {

// `steps` by ProcessId, by each process's own clock, of which `clocks` tell.
void number_alike(std::vector<ProcessSteps>& steps, const Catalog& catalog, const ProcessClocks& clocks);

}  // namespace cli
