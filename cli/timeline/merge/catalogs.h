// The catalogue of an input without its events, and of all inputs together.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/base/terminal.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"

namespace cli {

// One catalogue for all inputs, of one for each of them.

// Appends the processes and tracks of `from` to those of `to`; what is interned there gets the ids that it would have if
// its events had been read into `to`. Returns what the ids of `from` are in `to`. The processes of `from` have no content
// afterwards.
ttrace::IdMap join_catalog(Catalog& from, Catalog& to);

// The catalogue of an input without its events.

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
