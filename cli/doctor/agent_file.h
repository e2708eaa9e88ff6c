// Where libagent.so lies, and whether it can be injected on this machine.
#pragma once
#include <string>

namespace cli {

// $TRACETOOL_AGENT where it is set, else the first that exists: beside this program, ../lib and its machine's directory
// below, ../lib64 (tracetool/ in each), ../agent (a build directory). Absolute. Returns "" if there is none; `searched` lists the directories.
std::string find_agent(std::string& searched);

// Why the file is not an agent for this machine; "" when it is one: an ELF file of this machine with our entry points.
std::string wrong_with_agent(const std::string& path);

}  // namespace cli
