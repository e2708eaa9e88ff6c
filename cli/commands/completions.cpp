#include "cli/commands/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/trace/version.h"

namespace cli {

namespace {

// The options of a command for man pages and completions, read from CLI11.
struct OptionWords {
  std::vector<std::string> short_names, long_names;  // without dashes
  std::string value;                                 // name of its value; "" if it takes none
  std::vector<std::string> choices;                  // the allowed values, if they are listed
  std::string description;
};

std::vector<std::string> split_choices(const std::string& value) {
  return value.find('|') == std::string::npos ? std::vector<std::string>() : CLI::detail::split(value, '|');
}

// CLI11 extends type names by its checks: "N:POSITIVE", "MIB:UINT in [16 - 8192]".
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return name.empty() ? "VALUE" : name;
}

// Returns a command's options without its positional arguments, in the order of its help.
std::vector<OptionWords> option_words(const CLI::App& command) {
  std::vector<OptionWords> all;
  for (const CLI::Option* option : command.get_options(
           [](const CLI::Option* each) { return each->nonpositional() && !each->get_group().empty(); })) {
    const std::string value = value_name(*option);
    all.push_back({option->get_snames(), option->get_lnames(), value, split_choices(value), option->get_description()});
  }
  return all;
}

// Returns the positional arguments in usage form, like "[PATH...]".
std::string argument_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    words += (words.empty() ? "" : " ") + (option->get_required() ? name : "[" + name + "]");
  }
  return words;
}

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
std::string short_text(const std::string& description) {
  return description.substr(0, std::min(description.find_first_of(";([:\n"), description.find(". ")));
}

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
    if (!option.choices.empty())
      values += fmt::format("        {}) words='{}' ;;\n", fmt::join(own, "|"), fmt::join(option.choices, " "));
  }
  return fmt::format("    {})\n      options='{}'\n      case $previous in\n{}      esac ;;\n", command.get_name(),
                     fmt::join(names, " "), values);
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
  if (!option.value.empty())
    line += option.choices.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  return line + " -d '" + fish_text(short_text(option.description)) + "'\n";
}

// Escapes backslashes and dashes, and a dot or an apostrophe at the start, which would be a roff request.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string head(const std::string& name, const std::string& summary) {
  return fmt::format(".TH {} 1 \"\" \"tracetool {}\" \"tracetool manual\"\n.SH NAME\n{} \\- {}\n",
                     upper_case(roff(name)), TRACETOOL_VERSION, roff(name), roff(summary));
}

std::string options_section(const CLI::App& command) {
  std::string text;
  for (const OptionWords& option : option_words(command)) {
    std::string names;
    for (const std::string& name : option.short_names) names += (names.empty() ? "\\-" : ", \\-") + roff(name);
    for (const std::string& name : option.long_names) names += (names.empty() ? "\\-\\-" : ", \\-\\-") + roff(name);
    text += fmt::format(".TP\n.B {}\n{}\n", names + (option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR"),
                        roff(option.description));
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

// Returns a section. Indented lines are examples and keep their line breaks.
std::string prose(const std::string& title, const std::string& text) {
  std::string page = ".SH " + title + "\n";
  std::istringstream lines(text);
  bool is_example = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != is_example) page += indented ? ".PP\n.nf\n" : ".fi\n";
    is_example = indented;
    page += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return page + (is_example ? ".fi\n" : "");
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
      "{}  esac\n"
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
      "{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n"
      "{}  esac\n"
      "}}\n"
      "_tracetool \"$@\"\n",
      commands, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# fish completion for tracetool\n";
  for (const CLI::App* command : visible_commands(app))
    text += fmt::format("complete -c tracetool -n __fish_use_subcommand -a {} -d '{}'\n", command->get_name(),
                        fish_text(command->get_description()));
  for (const CLI::App* command : visible_commands(app)) {
    for (const OptionWords& option : option_words(*command))
      text += fish_option("__fish_seen_subcommand_from " + command->get_name(), option);
  }
  return text;
}

std::string man_page(const CLI::App& app, const CLI::App& command) {
  const std::string arguments = argument_words(command);
  return head(app.get_name() + "-" + command.get_name(), command.get_description()) +
         fmt::format(".SH SYNOPSIS\n.B {} {}\n[OPTIONS]{}\n", app.get_name(), command.get_name(),
                     arguments.empty() ? "" : " " + roff(arguments)) +
         prose("DESCRIPTION", command.get_footer()) + options_section(command) +
         fmt::format(".SH SEE ALSO\n.BR {} (1)\n", app.get_name());
}

std::string man_page(const CLI::App& app) {
  std::string commands = ".SH COMMANDS\n", others;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    commands += fmt::format(".TP\n.B {}\n{}\n", command->get_name(), roff(command->get_description()));
    others += fmt::format("{}.BR {}\\-{} (1)", others.empty() ? "" : ",\n", app.get_name(), command->get_name());
  }
  const std::string description = app.get_description();
  return head(app.get_name(), "see where GPU time goes in distributed training, rank by rank") +
         fmt::format(".SH SYNOPSIS\n.B {}\nCOMMAND [OPTIONS] [PATH...]\n", app.get_name()) +
         prose("DESCRIPTION", description) + commands + options_section(app) +
         prose("EXAMPLES AND EXIT STATUS", app.get_footer()) + ".SH SEE ALSO\n" + others + "\n";
}

}  // namespace cli
