// The catalogue of an input without its events.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/io/progress.h"
#include "cli/merge/ordered_trace.h"
#include "cli/model/catalog.h"

namespace cli {

// What `inputs` hold: counts, losses and times of their processes. Of a merged file only the lists are read, all else is read
// to its end, several inputs at once. Throws Error, of several faults that of the first input in order.
// `fits`: how the merged files among them were aligned.
Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress, std::vector<ClockFit>& fits);

// Of one, on so many threads, added to `catalog` and `fits`.
void read_catalog(const TraceInput& input, std::size_t threads, Progress& progress, Catalog& catalog, std::vector<ClockFit>& fits);

}  // namespace cli
