// Completion scripts for shells, made from the command table. They complete commands, options and listed values; other words are file names.
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
