// The table of commands. Each command has an entry and a file. main() creates a CLI11 subcommand for each entry.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/nearest_word.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace cli {

// Registers the command's options and returns the function that runs the command and owns them. That function throws
// Error.
using SetUp = std::function<void()> (*)(CLI::App& app);

struct Command {
  std::string_view name;
  std::string_view help;     // one line
  std::string_view details;  // text below the options in `tracetool NAME --help`, with an example
  SetUp set_up;
  bool is_hidden = false;  // omitted from help, manual pages and completions
};

const std::vector<Command>& commands();
// The hidden command that runs if the first word is a path.
inline constexpr const char* kCommandOfPaths = "look";

// Messages for invalid command lines: what is wrong, a suggestion, and where to read more.

// `app` is the program with its subcommands, `error` the exception of its parser. Returns one line without "tracetool:
// ".
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

// Throws Error (usage): the command does not exist.
[[noreturn]] void refuse_command(std::string_view name);

// Returns "; did you mean NAME?" with the closest of `known`, or "" if none is close.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const std::string meant(trace::nearest_word(word, known));
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace cli
