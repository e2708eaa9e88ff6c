// Implements `merge`: writes all inputs into one file. Each input is sorted and written separately on its own clock, so
// several can be processed at once and only these are in memory. The clock fits that put them on one axis follow at the
// end of the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/timeline/merge/input_reading.h"
#include "cli/trace/catalog.h"

namespace cli {

// Removal of unsuitable merged files from the inputs of a larger merge, so that the rest of a large job can still be
// merged.

// Removes merged files that cannot be read (cut, or with damaged lists) and those of another run than most inputs; if
// no run has most of them, none is removed for its run. Returns a line for each removed file. Throws Error if no
// readable input remains.
std::vector<std::string> leave_out_unfit(std::vector<TraceInput>& inputs);

// Returns a text such as "ranks 8-15 of 16 are missing"; "" if none is missing or the number of ranks is unknown.
std::string missing_ranks(const Catalog& catalog);

struct MergedTotals {
  std::size_t processes = 0;
  std::uint64_t events = 0;
  std::vector<ClockFit> fits;         // of the clocks of all hosts
  std::vector<std::string> warnings;  // for the user: one line each
};

// Writes the file (cli/formats/ttrace/file.h) without finishing the sink. Ignores MergeOptions::choice. Aligned
// clocks of a merged file are kept; without `align`, a merged file that is the only input loses its alignment. Throws
// the errors of order_traces(), and Error (usage) if the options would change other clocks of merged files.
MergedTotals merge_inputs(const std::vector<TraceInput>& inputs, const MergeOptions& options, ByteSink& out);

}  // namespace cli
