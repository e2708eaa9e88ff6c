// The catalogue of an input without its events.
#pragma once
#include "cli/io/progress.h"
#include "cli/merge/ordered_trace.h"
#include "cli/model/catalog.h"

namespace cli {

// Adds what `input` holds to `catalog`: counts, losses and times of its processes. Of a merged file only the lists are
// read, all else is read to its end. Throws Error.
void read_catalog(const TraceInput& input, Progress& progress, Catalog& catalog);

}  // namespace cli
