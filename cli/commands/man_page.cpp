#include "cli/commands/man_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "cli/commands/command_words.h"
#include "cli/trace/version.h"

namespace cli {
namespace {

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
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string head(const std::string& name, const std::string& summary) {
  return fmt::format(".TH {} 1 \"\" \"tracetool {}\" \"tracetool manual\"\n.SH NAME\n{} \\- {}\n", upper_case(roff(name)), TRACETOOL_VERSION, roff(name), roff(summary));
}

std::string options_section(const CLI::App& command) {
  std::string text;
  for (const OptionWords& option : option_words(command)) {
    std::string names;
    for (const std::string& name : option.short_names) names += (names.empty() ? "\\-" : ", \\-") + roff(name);
    for (const std::string& name : option.long_names) names += (names.empty() ? "\\-\\-" : ", \\-\\-") + roff(name);
    text += fmt::format(".TP\n.B {}\n{}\n", names + (option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR"), roff(option.description));
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

std::string man_page(const CLI::App& app, const CLI::App& command) {
  const std::string arguments = argument_words(command);
  return head(app.get_name() + "-" + command.get_name(), command.get_description()) +
         fmt::format(".SH SYNOPSIS\n.B {} {}\n[OPTIONS]{}\n", app.get_name(), command.get_name(), arguments.empty() ? "" : " " + roff(arguments)) +
         prose("DESCRIPTION", command.get_footer()) + options_section(command) + fmt::format(".SH SEE ALSO\n.BR {} (1)\n", app.get_name());
}

std::string man_page(const CLI::App& app) {
  std::string commands = ".SH COMMANDS\n", others;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    commands += fmt::format(".TP\n.B {}\n{}\n", command->get_name(), roff(command->get_description()));
    others += fmt::format("{}.BR {}\\-{} (1)", others.empty() ? "" : ",\n", app.get_name(), command->get_name());
  }
  const std::string description = app.get_description();
  return head(app.get_name(), "see where GPU time goes in distributed training, rank by rank") + fmt::format(".SH SYNOPSIS\n.B {}\nCOMMAND [OPTIONS] [PATH...]\n", app.get_name()) +
         prose("DESCRIPTION", description) + commands + options_section(app) + prose("EXAMPLES AND EXIT STATUS", app.get_footer()) + ".SH SEE ALSO\n" + others + "\n";
}

}  // namespace cli
