// help: the help of a command. pages: manual pages and completions, for packages.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/commands/commands.h"
#include "cli/commands/completions.h"

namespace cli {

namespace {

void run_help(const CLI::App& all, const std::string& name) {
  const auto named = all.get_subcommands([&](const CLI::App* sub) { return !name.empty() && sub->get_name() == name; });
  if (named.empty() && !name.empty()) refuse_command(name);
  // App::help() of the program would print the help of the parsed command, which is this one.
  write_output("-", named.empty() ? all.get_formatter()->make_help(&all, all.get_name(), CLI::AppFormatMode::Normal)
                                  : named.front()->help(all.get_name()));
}

std::function<void()> set_up_help(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("COMMAND", *name, "Command to explain (default: list all commands)");
  return [name, all = app.get_parent()] { run_help(*all, *name); };
}

void write_page(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    throw Error(Exit::cannot_open, "{}: cannot create the directory: {}", path.parent_path().string(), error.message());
  write_output(path.string(), text);
}

// Writes all pages and scripts to their directories below share/.
void write_pages(const CLI::App& app, const std::filesystem::path& share) {
  const std::filesystem::path man = share / "man" / "man1";
  write_page(man / "tracetool.1", man_page(app));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    write_page(man / fmt::format("tracetool-{}.1", command->get_name()), man_page(app, *command));
  write_page(share / "bash-completion" / "completions" / "tracetool", bash_completion(app));
  write_page(share / "zsh" / "site-functions" / "_tracetool", zsh_completion(app));
  write_page(share / "fish" / "vendor_completions.d" / "tracetool.fish", fish_completion(app));
}

std::function<void()> set_up_pages(CLI::App& app) {
  auto share = std::make_shared<std::string>();
  app.add_option("SHARE", *share, "Directory to write man/, bash-completion/, zsh/ and fish/ to")->required();
  return [share, all = app.get_parent()] { write_pages(*all, *share); };
}

}  // namespace

Command help_command() {
  return {"help", "Explain a command", "The same as `tracetool COMMAND --help`.\n\n  tracetool help export",
          set_up_help};
}

Command pages_command() {
  return {"pages", "Write the manual pages and the shell completions", "For packages.\n\n  tracetool pages /usr/share",
          set_up_pages, true};
}

}  // namespace cli
