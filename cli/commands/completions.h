// Completion scripts for shells and manual pages, generated from the command table.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace cli {

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
