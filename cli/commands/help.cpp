#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/usage_error.h"
#include "cli/base/output_file.h"

namespace cli {
namespace {

void run_help(const CLI::App& all, const std::string& name) {
  const auto named =
      all.get_subcommands([&](const CLI::App* sub) { return !name.empty() && sub->get_name() == name; });
  if (named.empty() && !name.empty()) refuse_command(name);
  OutputFile out("-");
  // App::help() of the whole would explain the command that was parsed: this one.
  out.write(named.empty() ? all.get_formatter()->make_help(&all, all.get_name(), CLI::AppFormatMode::Normal)
                          : named.front()->help(all.get_name()));
  out.finish();
}

std::function<void()> set_up_help(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("COMMAND", *name, "Command to explain (default: list all commands)");
  return [name, all = app.get_parent()] { run_help(*all, *name); };
}

}  // namespace

Command help_command() {
  return {"help", "Explain a command", "The same as `tracetool COMMAND --help`.\n\n  tracetool help export", set_up_help};
}

}  // namespace cli
