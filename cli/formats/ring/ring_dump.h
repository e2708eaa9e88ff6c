// Every record of a recording as text, one a line, in the order of the file: the raw record dump.
#pragma once
#include <string>

#include "cli/base/sinks.h"

namespace cli {

// Goes on after damage, saying where it is, and throws Error (bad content) at the end.
// `shown`: how its user knows the file.
void dump_ring(const std::string& path, const std::string& shown, ByteSink& out);

}  // namespace cli
