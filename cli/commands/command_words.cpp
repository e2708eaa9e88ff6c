#include "cli/commands/command_words.h"

namespace cli {
namespace {

std::vector<std::string> split_choices(const std::string& value) {
  std::vector<std::string> choices;
  if (value.find('|') == std::string::npos) return choices;
  for (const std::string& choice : CLI::detail::split(value, '|')) choices.push_back(choice);
  return choices;
}

// A type name is "N:POSITIVE" or "MIB:UINT in [16 - 8192]" once CLI11 has added its checks.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return name.empty() ? "VALUE" : name;
}

}  // namespace

std::vector<OptionWords> option_words(const CLI::App& command) {
  std::vector<OptionWords> all;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* each) { return each->nonpositional() && !each->get_group().empty(); })) {
    const std::string value = value_name(*option);
    all.push_back({option->get_snames(), option->get_lnames(), value, split_choices(value), option->get_description()});
  }
  return all;
}

std::string argument_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    words += (words.empty() ? "" : " ") + (option->get_required() ? name : "[" + name + "]");
  }
  return words;
}

}  // namespace cli
