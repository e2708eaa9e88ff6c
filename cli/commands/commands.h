// The table of commands: one entry each, one file each. main makes a CLI11 subcommand of every entry.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/nearest_word.h"

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

// What is said of a command line that cannot be understood: what was wrong, what may have been meant, where to read on.
namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace cli {

// `app` is the whole, with its subcommands; `error` what parsing threw. One line, without "tracetool: ".
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

// Throws Error (usage): there is no such command.
[[noreturn]] void refuse_command(std::string_view name);

// Returns "; did you mean NAME?" with the nearest of `known`, or "" if none is near.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const std::string meant(trace::nearest_word(word, known));
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace cli
