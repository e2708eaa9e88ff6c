// What `merge` does: all inputs into one file. Each is sorted and written by itself, at its own times, so that several are
// worked on at once, and no more of them is in memory; what places them on one axis follows at the end of the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/timeline/merge/input_reading.h"
#include "cli/trace/catalog.h"

namespace cli {

// Merged files that become a part of a larger one: those that cannot are left out, so that the rest of a large job is not lost with them.

// Takes out of several inputs each merged file that cannot be read (it was cut, or is damaged in its lists), and each that is of
// another run than most parts are; where no run has most of them, none is left out for that. Returns a line for each; throws Error
// where nothing would be left, because none can be read.
std::vector<std::string> leave_out_unfit(std::vector<TraceInput>& inputs);

// "ranks 8-15 of 16 are missing"; "" where none is, or where it is not known how many there were.
std::string missing_ranks(const Catalog& catalog);

struct MergedTotals {
  std::size_t processes = 0;
  std::uint64_t events = 0;
  std::vector<ClockFit> fits;         // of the clocks of all hosts
  std::vector<std::string> warnings;  // for the person who asked: one line each
};

// Writes the file (cli/formats/ttrace/file.h), and does not finish the sink. MergeOptions::choice is not asked. Clocks of
// a merged file are kept where somebody aligned them; without `align` one that is the only input loses them. Throws as order_traces() does, and Error (usage)
// where the options would change other clocks of merged files.
MergedTotals merge_inputs(const std::vector<TraceInput>& inputs, const MergeOptions& options, ByteSink& out);

}  // namespace cli
