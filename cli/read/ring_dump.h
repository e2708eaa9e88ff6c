// Every record of a recording as text, one a line, in the order of the file: the debugging door.
#pragma once
#include <cstdio>
#include <string>

namespace cli {

void dump_ring(const std::string& path, std::FILE* out);

}  // namespace cli
