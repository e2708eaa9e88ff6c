// The options that commands share. What is returned lives as long as the command line is read and run.
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

// The options that commands share. What is returned lives as long as the run that holds it.
namespace CLI {
class App;
class Validator;
}

namespace cli {

// Refuses an empty value: what an unset variable of a script leaves behind is no choice.
const CLI::Validator& not_empty();

// PATH..., --rank N=FILE and --run.
std::shared_ptr<InputOptions> add_inputs(CLI::App& app);

// --run alone.
void add_run(CLI::App& app, std::string& run);

// --memory, in MiB.
std::shared_ptr<std::size_t> add_memory(CLI::App& app);

// Adds --wide, --color and --quiet, which change how text looks on a terminal.
void add_terminal_options(CLI::App& app);

// Turns off colors and the limit of the width if `output` is a file and not stdout ("-"). Call it before the text is made.
void make_text_for(const std::string& output);

}  // namespace cli

// --ranks, --steps, --time, --kinds: which part of a trace a command works on; the same everywhere.
namespace CLI {
class App;
}

namespace cli {

struct SelectionOptions {
  std::string ranks, steps, time, kinds, min_dur;  // as given; "": not

  bool any() const { return !ranks.empty() || !steps.empty() || !time.empty() || !kinds.empty() || !min_dur.empty(); }
};

std::shared_ptr<SelectionOptions> add_selection(CLI::App& app);

// --min-dur, for commands that show events one by one.
void add_min_duration(CLI::App& app, const std::shared_ptr<SelectionOptions>& options);

// As a shell takes them, each behind a blank: " --ranks 0-3 --steps 5"; "" where nothing is chosen.
std::string selection_text(const SelectionOptions& options);

// Throws Error (usage) that names the option: "--" + prefix + "ranks".
Selection selection_of(const SelectionOptions& options, const std::string& prefix = "");

}  // namespace cli

namespace cli {

// --peak-tflops and --peak-gb-per-s: peaks of GPUs that the table lacks (cli/answers/tables/gpu_peaks.h), or others than its.
struct PeakOptions {
  std::vector<std::string> tflops;
  double gb_per_s = 0;
  // Throws Error (usage).
  OwnPeaks peaks() const { return own_peaks_of(tflops, gb_per_s); }
};

inline std::shared_ptr<PeakOptions> add_peaks(CLI::App& app) {
  auto options = std::make_shared<PeakOptions>();
  app.add_option("--peak-tflops", options->tflops, "Dense peak of the GPUs in TFLOP/s, for all types or per type: bf16=989,fp8=1979")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("[TYPE=]N,...");
  app.add_option("--peak-gb-per-s", options->gb_per_s, "Peak memory bandwidth of the GPUs in 10^9 bytes per second")->check(CLI::PositiveNumber)->type_name("N");
  return options;
}

// The options of `report`, and the function that makes its page. `open --report` uses it, too.
struct ReportOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<SelectionOptions> selection;
  std::shared_ptr<PeakOptions> peaks;
  std::shared_ptr<std::size_t> memory_mib;
  std::string output, title, timeline_ranks, classes;
  std::optional<std::int64_t> step;
};

// Reads the inputs and makes the page. Scratch files go next to `output`. Throws Error as read_inputs() and make_report() do, and (usage)
// if an option does not fit the trace.
report::Report report_of(const ReportOptions& options, const std::vector<TraceInput>& inputs, const std::string& output);

}  // namespace cli
