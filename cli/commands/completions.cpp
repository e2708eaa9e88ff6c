#include "cli/commands/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "cli/commands/command_words.h"

namespace cli {
namespace {

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::vector<std::string> dashed(const OptionWords& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.short_names) names.push_back("-" + name);
  for (const std::string& name : option.long_names) names.push_back("--" + name);
  return names;
}

// Returns the first part of a description, up to a semicolon, parenthesis, bracket, colon, line end or the end of the first sentence.
std::string short_text(const std::string& description) { return description.substr(0, std::min(description.find_first_of(";([:\n"), description.find(". "))); }

std::string escape(const std::string& text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Escapes text for _arguments, in single quotes.
std::string zsh_text(const std::string& text) {
  std::string quoted;
  for (const char c : escape(text, "[]:\\")) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted;
}

std::string fish_text(const std::string& text) { return escape(text, "'\\"); }

std::string bash_case(const CLI::App& command) {
  std::vector<std::string> names;
  std::string values;
  for (const OptionWords& option : option_words(command)) {
    const std::vector<std::string> own = dashed(option);
    names.insert(names.end(), own.begin(), own.end());
    if (!option.choices.empty()) values += fmt::format("        {}) words='{}' ;;\n", fmt::join(own, "|"), fmt::join(option.choices, " "));
  }
  return fmt::format("    {})\n      options='{}'\n      case $previous in\n{}      esac ;;\n", command.get_name(), fmt::join(names, " "), values);
}

std::string zsh_option(const OptionWords& option) {
  std::string lines;
  const std::string description = zsh_text(short_text(option.description));
  const std::string choices = option.choices.empty() ? "_files" : fmt::format("({})", fmt::join(option.choices, " "));
  for (const std::string& name : dashed(option)) {
    const std::string value = option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), choices);
    lines += fmt::format("        '{}[{}]{}' \\\n", name, description, value);
  }
  return lines;
}

std::string fish_option(const std::string& condition, const OptionWords& option) {
  std::string line = "complete -c tracetool -n '" + condition + "'";
  for (const std::string& name : option.short_names) line += " -s " + name;
  for (const std::string& name : option.long_names) line += " -l " + name;
  if (!option.value.empty()) line += option.choices.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  return line + " -d '" + fish_text(short_text(option.description)) + "'\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : visible_commands(app)) {
    names.push_back(command->get_name());
    cases += bash_case(*command);
  }
  return fmt::format(
      "# bash completion for tracetool\n"
      "_tracetool() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options= words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- \"$current\")\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  if [ -z \"$words\" ] && [[ $current == -* ]]; then words=$options; fi\n"
      "  if [ -n \"$words\" ]; then mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\"); fi\n"
      "}}\n"
      "complete -o bashdefault -o default -F _tracetool tracetool\n",
      fmt::join(names, " "), cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : visible_commands(app)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
    std::string options;
    for (const OptionWords& option : option_words(*command)) options += zsh_option(option);
    cases += fmt::format("    {})\n      _arguments \\\n{}        '*:file:_files' ;;\n", command->get_name(), options);
  }
  return fmt::format(
      "#compdef tracetool\n"
      "_tracetool() {{\n"
      "  local -a commands=(\n"
      "{}"
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "_tracetool \"$@\"\n",
      commands, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# fish completion for tracetool\n";
  for (const CLI::App* command : visible_commands(app))
    text += fmt::format("complete -c tracetool -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(), fish_text(command->get_description()));
  for (const CLI::App* command : visible_commands(app)) {
    for (const OptionWords& option : option_words(*command)) text += fish_option("__fish_seen_subcommand_from " + command->get_name(), option);
  }
  return text;
}

}  // namespace cli
