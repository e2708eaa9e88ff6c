// The options of a command for man pages and completions, read from CLI11.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cli {

struct OptionWords {
  std::vector<std::string> short_names, long_names;  // without dashes
  std::string value;                                 // name of its value; "" if it takes none
  std::vector<std::string> choices;                  // the allowed values, if they are listed
  std::string description;
};

// Returns a command's options without its positional ones, in the order of its help.
std::vector<OptionWords> option_words(const CLI::App& command);
// Returns the positional arguments as a usage line has them, like "[PATH...]".
std::string argument_words(const CLI::App& command);

}  // namespace cli
