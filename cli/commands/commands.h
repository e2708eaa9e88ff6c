// The table of commands: one entry each, one file each. main makes a CLI11 subcommand of every entry.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace cli {

// Registers the command's options, which it owns, and returns what to run once they are parsed. The run throws Error.
using SetUp = std::function<void()> (*)(CLI::App& app);

struct Command {
  std::string_view name;
  std::string_view help;     // one line
  std::string_view details;  // below the options in `tracetool NAME --help`, with an example
  SetUp set_up;
  bool is_hidden = false;    // not in help, pages and completions
};

const std::vector<Command>& commands();
// The hidden command that runs if the first word is a path.
inline constexpr const char* kCommandOfPaths = "look";

}  // namespace cli
