// What a native file says of itself: who wrote it, of which ranks, what these lost, and how the clocks of their hosts
// lie on the axis.
#pragma once
#include <vector>

#include "cli/formats/perfetto/buffer.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"

namespace cli::perfetto {

// The content of a TraceAttributes message. Of `fits` (null: unknown) the hosts that have a name.
Buffer trace_attributes(const Catalog& catalog, const std::vector<ClockFit>* fits);

}  // namespace cli::perfetto
