#include "cli/commands/input_options.h"

#include <CLI/CLI.hpp>

#include "cli/base/terminal.h"

namespace cli {

const CLI::Validator& not_empty() {
  static const CLI::Validator validator(
      [](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "");
  return validator;
}

void add_run(CLI::App& app, std::string& run) {
  app.add_option("--run", run, "Run in a directory: a name from `tracetool runs`, latest or all "
                               "(default: latest)")
      ->check(not_empty())
      ->type_name("NAME");
}

std::shared_ptr<InputOptions> add_inputs(CLI::App& app) {
  auto options = std::make_shared<InputOptions>();
  app.add_option("PATH", options->paths, "Traces: files, directories (their newest run) or globs; - is stdin");
  add_run(app, options->run);
  app.add_option("--rank", options->ranks, "Read FILE as rank N, even if FILE contains another rank. May be repeated")
      ->type_name("N=FILE")
      ->allow_extra_args(false);
  return options;
}

void add_terminal_options(CLI::App& app) {
  constexpr const char* kTerminal = "On a terminal";
  app.add_flag_callback("--wide", set_unlimited_width, "Do not shorten names to the width of the terminal")->group(kTerminal);
  app.add_option("--color", "When to color text (default: auto, on a terminal if NO_COLOR is not set)")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->each([](const std::string& word) { set_color(word == "always" ? ColorChoice::always : word == "never" ? ColorChoice::never : ColorChoice::automatic); })
      ->type_name("auto|always|never")
      ->group(kTerminal);
  app.add_flag_callback("-q,--quiet", set_quiet, "Print only errors on stderr: no notes, warnings, progress or next commands")->group(kTerminal);
}

void make_text_for(const std::string& output) {
  if (output != "-") set_plain();
}

std::shared_ptr<std::size_t> add_memory(CLI::App& app) {
  auto mebibytes = std::make_shared<std::size_t>(kDefaultMemory >> 20);
  app.add_option("--memory", *mebibytes, "Memory for sorting in MiB. The rest goes to $TMPDIR, else next to the output")
      ->check(CLI::Range(std::size_t{16}, std::size_t{8192}))
      ->type_name("MIB")
      ->capture_default_str();
  return mebibytes;
}

}  // namespace cli
