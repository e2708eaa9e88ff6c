// Completion scripts of shells, made from the command table: commands, options, and the values that are named. Other words are files.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace cli
