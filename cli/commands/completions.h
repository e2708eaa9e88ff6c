// Completion scripts for shells and manual pages, generated from the command table.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cli {

// The options of a command for man pages and completions, read from CLI11.
struct OptionWords {
  std::vector<std::string> short_names, long_names;  // without dashes
  std::string value;                                 // name of its value; "" if it takes none
  std::vector<std::string> choices;                  // the allowed values, if they are listed
  std::string description;
};

// Returns a command's options without its positional arguments, in the order of its help.
std::vector<OptionWords> option_words(const CLI::App& command);
// Returns the positional arguments in usage form, like "[PATH...]".
std::string argument_words(const CLI::App& command);

// Completion scripts for shells. They complete commands, options and listed values; other words are file names.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

// Manual pages in roff (man(7)).

// Returns the page of one command. `app` is the program, `command` one of its subcommands.
std::string man_page(const CLI::App& app, const CLI::App& command);
// Returns the page of the program itself, with a line per command.
std::string man_page(const CLI::App& app);

}  // namespace cli
