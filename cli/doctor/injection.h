// Which environment variables put the agent into a program, and who is in the way.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cli {

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
