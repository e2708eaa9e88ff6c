// Reports the data known to be missing from a trace. Without these lines an export or a table would look complete.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Returns a line for each process with missing data, and one for the processes beyond the limit:
// - a report of Nsight Systems with CUDA graphs as a whole, first because it changes the meaning of all counts of kernels
// - a recording with overwritten records (by kind, and how long after its start its events begin) or lost records
// - a JSON file with damage: the minimum number of lost events (the content of a destroyed block is unknown), the
//   position of the first damage, and where the file was cut
// Also returns a line for each JSON file that is our own export of several ranks, because its ranks cannot be
// separated. Has to be called before times are converted from the recordings' own clocks.
std::vector<std::string> missing_data(const Catalog& catalog);

// Returns only the lines about JSON files.
std::vector<std::string> file_warnings(const Catalog& catalog);

// Returns the losses of one recording, without its name: "12,345 kernels overwritten (93 % of ...); 7 kernels lost"; ""
// if nothing is missing.
std::string recording_losses(const Process& process);

}  // namespace cli
