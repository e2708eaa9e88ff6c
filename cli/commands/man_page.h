// Manual pages in roff (man(7)), made from the command table.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace cli {

// Returns the page of one command. `app` is the program, `command` one of its subcommands.
std::string man_page(const CLI::App& app, const CLI::App& command);
// Returns the page of the program itself, with a line for each command.
std::string man_page(const CLI::App& app);

}  // namespace cli
