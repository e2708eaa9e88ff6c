#include "cli/commands/mark_command.h"

#include <CLI/CLI.hpp>

namespace cli {
namespace {

// "--keep" of "--keep 3"; not "--keep=3" or "-oDIR", which are whole.
bool has_value_behind(const CLI::App& app, const std::string& word) {
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

}  // namespace

std::vector<std::string> mark_command(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words[0] != app.get_name()) return words;
  std::size_t at = 1;
  while (at < words.size() && words[at][0] == '-' && words[at] != "--") at += has_value_behind(app, words[at]) ? 2 : 1;
  if (at < words.size() && words[at] != "--") words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "--");
  return words;
}

}  // namespace cli
