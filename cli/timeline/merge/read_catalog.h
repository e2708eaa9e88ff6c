// The catalogue of an input without its events.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/base/progress.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"

namespace cli {

// What `inputs` hold: counts, losses and times of their processes. Of a merged file only the lists are read, all else is read
// to its end, several inputs at once. Throws Error, of several faults that of the first input in order.
// What merged files say besides.
struct MergedFacts {
  std::vector<ClockFit> fits;       // how they were aligned
  std::vector<ProcessSteps> steps;  // of their processes, one behind the other
};
Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress, MergedFacts& facts);

// Of one, on so many threads, added to `catalog` and `facts`.
void read_catalog(const TraceInput& input, std::size_t threads, Progress& progress, Catalog& catalog, MergedFacts& facts);

}  // namespace cli
