// Merged files that become a part of a larger one: those that cannot are left out, so that the rest of a large job is not lost with them.
#pragma once
#include <string>
#include <vector>

#include "cli/timeline/merge/input_reading.h"
#include "cli/trace/catalog.h"

namespace cli {

// Takes out of several inputs each merged file that cannot be read (it was cut, or is damaged in its lists), and each that is of
// another run than most parts are; where no run has most of them, none is left out for that. Returns a line for each; throws Error
// where nothing would be left, because none can be read.
std::vector<std::string> leave_out_unfit(std::vector<TraceInput>& inputs);

// "ranks 8-15 of 16 are missing"; "" where none is, or where it is not known how many there were.
std::string missing_ranks(const Catalog& catalog);

}  // namespace cli
