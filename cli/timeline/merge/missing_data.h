// What is missing of a trace, as far as it can be known, for everybody who reads it: without it an export or a table looks
// complete.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// A line for each process that lacks something, and one for those beyond the first:
// - a recording of which records were overwritten (by kind, and how long after its begin its events begin) or lost
// - a JSON file with damage: how many events were lost (at least: what stood in a destroyed block is not known) and
//   where the first was, and where it was cut
// and for each JSON file that is our own export of several ranks, which cannot be told apart in it.
// To be called while times are those of the recordings' own clocks.
std::vector<std::string> missing_data(const Catalog& catalog);

// Of these, the lines of JSON files alone.
std::vector<std::string> file_warnings(const Catalog& catalog);

// What it says of a recording alone, without its name: "12,345 kernels overwritten (93 % of ...); 7 kernels lost".
// "" where nothing is missing.
std::string recording_losses(const Process& process);

}  // namespace cli
