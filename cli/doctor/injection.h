// Which environment variables put the agent into a program, and who is in the way.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

// Where libagent.so lies, and whether it can be injected on this machine.

// $TRACETOOL_AGENT where it is set, else the first that exists: beside this program, ../lib and its machine's directory
// below, ../lib64 (tracetool/ in each), ../agent (a build directory). Absolute. Returns "" if there is none; `searched` lists the directories.
std::string find_agent(std::string& searched);

// Why the file is not an agent for this machine; "" when it is one: an ELF file of this machine with our entry points.
std::string wrong_with_agent(const std::string& path);

// The environment, as far as it is asked; nullptr: not set.
using GetVariable = std::function<const char*(const char*)>;

struct InjectionOptions {
  std::string agent;   // absolute path
  std::string directory;  // of the recordings; made absolute here. "": $TRACETOOL_DIR, else ./traces
  bool preload = false;
  bool force = false;                                         // take variables that another tool holds
  std::vector<std::pair<std::string, std::string>> settings;  // TRACETOOL_..., value
};

struct Injection {
  std::vector<std::pair<std::string, std::string>> variables;  // to set
  std::string refused;  // why it must not be done: another tool is to be injected; "": go on
  std::string warning;  // what will be missing; "": nothing
};

Injection plan_injection(const InjectionOptions& options, const GetVariable& variable);

}  // namespace cli
