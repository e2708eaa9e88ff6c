#include "cli/commands/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/base/error.h"

namespace cli {

// The commands, in the order of the help.
#define COMMANDS  \
  ENTRY(record)   \
  ENTRY(doctor)   \
  ENTRY(runs)     \
  ENTRY(info)     \
  ENTRY(merge)    \
  ENTRY(analyze)  \
  ENTRY(diff)     \
  ENTRY(check)    \
  ENTRY(diagnose) \
  ENTRY(mem)      \
  ENTRY(report)   \
  ENTRY(export)   \
  ENTRY(open)     \
  ENTRY(dump)     \
  ENTRY(help)     \
  ENTRY(pages)    \
  ENTRY(look)
#define ENTRY(name) Command name##_command();
COMMANDS
#undef ENTRY

const std::vector<Command>& commands() {
#define ENTRY(name) name##_command(),
  static const std::vector<Command> all{COMMANDS};
#undef ENTRY
  return all;
}

namespace {

// Returns the long names.
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Returns the subcommand that was parsed, else the program.
const CLI::App& parsed(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

// Returns an explanation of the first word that `app` did not accept, or "" if it accepted all.
std::string unexpected(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (word == "--") continue;
    if (!word.starts_with('-')) return "unexpected word " + word;
    const std::string name = word.substr(0, word.find('='));
    return "unknown option " + name + did_you_mean(name, options_of(app));
  }
  return {};
}

}  // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = parsed(app);
  std::string what;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = unexpected(app);
    if (what.empty()) what = unexpected(command);
  }
  if (what.empty()) what = error.what();
  std::ranges::replace(what, '\n', ' ');
  const std::string name = &command != &app ? command.get_name() : "";
  return (name.empty() ? "" : name + ": ") + what + "; `tracetool " + (name.empty() ? "" : name + " ") +
         "--help` lists commands and options";
}

void refuse_command(std::string_view name) {
  std::vector<std::string> names;
  std::string all;
  for (const Command& command : commands()) {
    if (command.is_hidden) continue;
    all.append(all.empty() ? "" : ", ").append(command.name);
    names.emplace_back(command.name);
  }
  const std::string meant(trace::nearest_word(name, names));
  throw Error(Exit::usage, "no command, file or directory named " + std::string(name) +
                               (meant.empty() ? "" : " (did you mean " + meant + "?)") + "; commands: " + all +
                               ". `tracetool --help` explains them");
}

}  // namespace cli
