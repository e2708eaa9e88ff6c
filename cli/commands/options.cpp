#include "cli/commands/options.h"

#include "cli/base/terminal.h"
#include "cli/base/text.h"

namespace cli {

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& text, const std::string& type,
                      const std::string& help) {
  static const CLI::Validator not_empty(
      [](const std::string& value) { return value.empty() ? "is empty" : std::string(); }, "");
  return app.add_option(name, text, help)->check(not_empty)->type_name(type);
}

void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& words, const std::string& type,
              const std::string& help) {
  app.add_option(name, words, help)->delimiter(',')->allow_extra_args(false)->type_name(type);
}

CLI::Option* one_of(CLI::Option* option, const std::string& words) {
  return option->check(CLI::IsMember(CLI::detail::split(words, '|')).description(""))->type_name(words);
}

void add_run(CLI::App& app, std::string& run) {
  add_text(app, "--run", run, "NAME",
           "Run in a directory: a name from `tracetool runs`, latest or all (default: latest)");
}

void add_with_nsys(CLI::App& app, bool& with_nsys) {
  app.add_flag("--with-nsys", with_nsys,
               "Export reports of Nsight Systems (*.nsys-rep) with `nsys export`, to a file next to each report");
}

std::shared_ptr<InputOptions> add_inputs(CLI::App& app) {
  auto options = std::make_shared<InputOptions>();
  app.add_option("PATH", options->paths, "Traces: files, directories (their newest run) or globs; - is stdin");
  add_run(app, options->run);
  app.add_option("--rank", options->ranks, "Read FILE as rank N, even if FILE contains another rank. May be repeated")
      ->type_name("N=FILE")
      ->allow_extra_args(false);
  add_with_nsys(app, options->with_nsys);
  return options;
}

void add_terminal_options(CLI::App& app) {
  constexpr const char* kTerminal = "On a terminal";
  app.add_flag_callback("--wide", set_unlimited_width, "Do not shorten names to the width of the terminal")
      ->group(kTerminal);
  one_of(app.add_option("--color", "When to color text (default: auto, on a terminal if NO_COLOR is not set)"),
         "auto|always|never")
      ->each([](const std::string& word) {
        set_color(word == "always"  ? ColorChoice::always
                  : word == "never" ? ColorChoice::never
                                    : ColorChoice::automatic);
      })
      ->group(kTerminal);
  app.add_flag_callback("-q,--quiet", set_quiet,
                        "Print only errors on stderr: no notes, warnings, progress or next commands")
      ->group(kTerminal);
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

std::shared_ptr<SelectionOptions> add_selection(CLI::App& app) {
  auto options = std::make_shared<SelectionOptions>();
  add_text(app, "--ranks", options->ranks, "LIST", "Only these ranks: 0-3,7");
  add_text(app, "--steps", options->steps, "LIST", "Only these training steps and their GPU work: 5, 10-12 or 10-");
  add_text(app, "--time", options->time, "A-B",
           "Only this time range, measured from the start of the trace: 1.5s-2s, 300ms-, -2s");
  add_text(
      app, "--kinds", options->kinds, "LIST",
      "Only these kinds of events: kernel,memcpy,nccl,... as in `info --json`. nccl includes the kernels of collectives");
  return options;
}

void add_min_duration(CLI::App& app, const std::shared_ptr<SelectionOptions>& options) {
  add_text(app, "--min-dur", options->min_dur, "TIME", "Only slices at least this long: 5us");
}

std::string selection_text(const SelectionOptions& options) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format(" {} {}", name, shell_word(text));
  };
  add("--ranks", options.ranks);
  add("--steps", options.steps);
  add("--time", options.time);
  add("--kinds", options.kinds);
  add("--min-dur", options.min_dur);
  return out;
}

Selection selection_of(const SelectionOptions& options, const std::string& prefix) {
  Selection selection;
  if (!options.ranks.empty()) selection.ranks.emplace("--" + prefix + "ranks", options.ranks);
  if (!options.steps.empty()) selection.steps.emplace("--" + prefix + "steps", options.steps);
  if (!options.time.empty()) selection.time = time_range_option("--" + prefix + "time", options.time);
  if (!options.kinds.empty()) selection.kinds = kinds_option("--" + prefix + "kinds", options.kinds);
  if (!options.min_dur.empty()) selection.min_dur_ns = duration_option("--" + prefix + "min-dur", options.min_dur);
  return selection;
}

}  // namespace cli
