// The options that several commands share. The returned objects must live until the command has run.
#pragma once
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/gpu_peaks.h"
#include "cli/commands/inputs.h"
#include "cli/show/report/report.h"
#include "cli/timeline/select/selector.h"

namespace cli {

// Adds an option with a text. Rejects an empty one, which usually comes from an unset variable in a script.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& text, const std::string& type,
                      const std::string& help);

// Adds an option with a list of words, separated by commas, as its value. It may be repeated.
void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& words, const std::string& type,
              const std::string& help);

// Restricts the value of an option to `words`, such as "text|json".
CLI::Option* one_of(CLI::Option* option, const std::string& words);

// Adds PATH..., --rank N=FILE, --run and --with-nsys.
std::shared_ptr<InputOptions> add_inputs(CLI::App& app);

// Adds --with-nsys only.
void add_with_nsys(CLI::App& app, bool& with_nsys);

// Adds --run only.
void add_run(CLI::App& app, std::string& run);

// Adds --memory, in MiB.
std::shared_ptr<std::size_t> add_memory(CLI::App& app);

// Adds --wide, --color and --quiet, which control text on a terminal.
void add_terminal_options(CLI::App& app);

// Disables colors and the width limit if `output` is a file and not stdout ("-"). Call it before the text is created.
void make_text_for(const std::string& output);

// --ranks, --steps, --time, --kinds: the part of a trace that a command works on. The same in all commands.
struct SelectionOptions {
  std::string ranks, steps, time, kinds, min_dur;  // as given; "" if not given

  bool any() const { return !ranks.empty() || !steps.empty() || !time.empty() || !kinds.empty() || !min_dur.empty(); }
};

std::shared_ptr<SelectionOptions> add_selection(CLI::App& app);

// Adds --min-dur, for commands that show single events.
void add_min_duration(CLI::App& app, const std::shared_ptr<SelectionOptions>& options);

// Returns the options as words of a shell command, each preceded by a blank: " --ranks 0-3 --steps 5"; "" if none is
// given.
std::string selection_text(const SelectionOptions& options);

// Throws Error (usage) with the name of the option: "--" + prefix + "ranks".
Selection selection_of(const SelectionOptions& options, const std::string& prefix = "");

// --peak-tflops and --peak-gb-per-s: peaks of GPUs that are missing in the table (cli/answers/tables/gpu_peaks.h) or
// replace its values.
struct PeakOptions {
  std::vector<std::string> tflops;
  double gb_per_s = 0;
  // Throws Error (usage).
  OwnPeaks peaks() const { return own_peaks_of(tflops, gb_per_s); }
};

inline std::shared_ptr<PeakOptions> add_peaks(CLI::App& app) {
  auto options = std::make_shared<PeakOptions>();
  add_list(app, "--peak-tflops", options->tflops, "[TYPE=]N,...",
           "Dense peak of the GPUs in TFLOP/s, for all types or per type: bf16=989,fp8=1979");
  app.add_option("--peak-gb-per-s", options->gb_per_s, "Peak memory bandwidth of the GPUs in 10^9 bytes per second")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  return options;
}

// The options of `report`, and the function that creates its page. Also used by `open --report`.
struct ReportOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<SelectionOptions> selection;
  std::shared_ptr<PeakOptions> peaks;
  std::shared_ptr<std::size_t> memory_mib;
  std::string output, title, timeline_ranks, classes;
  std::optional<std::int64_t> step;
};

// Reads the inputs and creates the page. Scratch files go next to `output`. Throws the errors of read_inputs() and
// make_report(), and Error (usage) if an option does not fit the trace.
report::Report report_of(const ReportOptions& options, const std::vector<TraceInput>& inputs,
                         const std::string& output);

}  // namespace cli
