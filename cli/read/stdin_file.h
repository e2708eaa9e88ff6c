// Standard input as a file that can be opened by name, more than once, from its start: readers sniff, scan and map.
#pragma once
#include <string>

namespace cli {

// A path under /proc/self/fd, good until the program ends. A pipe is first copied whole to an unlinked file in $TMPDIR
// (else /tmp), never into memory. Throws Error (cannot_open).
std::string stdin_as_file();

}  // namespace cli
