// Reads catalogues of inputs without their events, and joins them.
#pragma once
#include <cstddef>
#include <vector>

#include "cli/base/terminal.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"

namespace cli {

// Joins the catalogues of all inputs.

// Appends the processes and tracks of `from` to those of `to`. Strings and facts get the ids that they would have if
// the events of `from` had been read into `to`. Returns the mapping of the ids. The processes of `from` are moved-from
// afterwards.
ttrace::IdMap join_catalog(Catalog& from, Catalog& to);

// Reads catalogues of inputs without their events.

// Alignment and steps from merged files.
struct MergedFacts {
  std::vector<ClockFit> fits;       // alignment of their clocks
  std::vector<ProcessSteps> steps;  // of their processes, concatenated
};
// Reads the catalogues of `inputs`: counts, losses and times of their processes. Only the lists of a merged file are
// read; other inputs are read to the end, several at once. Throws Error; if several inputs fail, the error of the first
// one in order.
Catalog read_catalogs(const std::vector<TraceInput>& inputs, Progress& progress, MergedFacts& facts);

// Reads one input on `threads` threads and adds it to `catalog` and `facts`.
void read_catalog(const TraceInput& input, std::size_t threads, Progress& progress, Catalog& catalog,
                  MergedFacts& facts);

}  // namespace cli
