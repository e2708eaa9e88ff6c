// The catalogue of an input without its events.
#pragma once
#include <vector>

#include "cli/io/progress.h"
#include "cli/merge/ordered_trace.h"
#include "cli/model/catalog.h"

namespace cli {

// What `inputs` hold: counts, losses and times of their processes. Of a merged file only the lists are read, all else is read
// to its end, several inputs at once. Throws Error, of several faults that of the first input in order.
Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress);

// Of one, added to `catalog`.
void read_catalog(const TraceInput& input, Progress& progress, Catalog& catalog);

}  // namespace cli
