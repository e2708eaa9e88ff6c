// Reports the data known to be missing from a trace. Without these lines an export or a table would look complete.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Returns the line of whole_graphs(), a line for each process with missing data, and one for the processes beyond the
// limit:
// - a recording with overwritten records (by kind, and how long after its start its events begin) or lost records
// - a JSON file with damage: the minimum number of lost events (the content of a destroyed block is unknown), the
//   position of the first damage, and where the file was cut
// Also returns a line for each JSON file that is our own export of several ranks, because its ranks cannot be
// separated. Has to be called before times are converted from the recordings' own clocks.
std::vector<std::string> missing_data(const Catalog& catalog);

// Returns only the lines about reports and JSON files.
std::vector<std::string> file_warnings(const Catalog& catalog);

// Returns a line about reports of Nsight Systems with CUDA graphs that were recorded as a whole, or "". It comes first,
// because the kernels inside of these graphs are missing from all counts and sums.
std::string whole_graphs(const Catalog& catalog);

// Returns the losses of one recording, without its name: "12,345 kernels overwritten (93 % of ...); 7 kernels lost"; ""
// if nothing is missing.
std::string recording_losses(const Process& process);

}  // namespace cli
