// What a recording does not hold, as slices in the time in which it must have happened, so that no export looks
// complete when it is not.
//
//   overwritten        ends at the first kept event. It began with the recording, hours ago maybe: written is at most a
//                      twentieth of the process's length, and DerivedFacts::length_ns says how long it is in truth, where known.
//   lost, dropped      somewhere between the recording's begin and the last event: a slice over both
//   gaps               as the recording says
// A process of which nothing was kept: from its begin to its last sign of life, within the trace.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"

namespace cli {

// By start, the longer first; those of a process nest.
std::vector<Derived> lost_slices(const Catalog& catalog);

// The earlier of the first event and the first of these slices: what an export begins with. 0: there is neither.
std::int64_t picture_start(const Catalog& catalog);

}  // namespace cli
