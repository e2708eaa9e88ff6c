// Shows data missing from a recording as slices in the time in which it must have happened, so that an incomplete
// export does not look complete.
//
//   overwritten        ends at the first kept event. It may have begun hours earlier, with the recording, so the slice
//                      is limited to a twentieth of the process's length. DerivedFacts::length_ns is its real
//                      length if known.
//   lost, dropped      somewhere between the recording's begin and the last event: a slice over both
//   gaps               as recorded
// A process without any kept events gets a slice from its begin to its last sign of life, within the trace.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"

namespace cli {

// Returns the slices by start, the longer first. Slices of a process are nested.
std::vector<Derived> lost_slices(const Catalog& catalog);

// Returns the start of an export: that of the first event or of the first of these slices, whichever is earlier. 0 if
// there is neither.
std::int64_t picture_start(const Catalog& catalog);

}  // namespace cli
