
#include <filesystem>

#include "cli/base/error.h"
#include "cli/base/files.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/clock_report.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"
#include "cli/timeline/merge/merge_inputs.h"

namespace cli {
namespace {

struct MergeCommandOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<std::size_t> memory_mib;
  std::string output;
  std::string report;
  bool no_align = false, clock_of_each_rank = false, partial = false, force = false;
};

void run_merge(const MergeCommandOptions& options) {
  auto inputs = find_inputs(*options.inputs);
  const std::string output =
      options.output.empty() ? default_output(*options.inputs, inputs, ".ttrace") : options.output;
  refuse_input_as_output(inputs, output);
  if (!options.report.empty()) {
    refuse_input_as_output(inputs, options.report);
    if (real_path(options.report) == real_path(output))
      throw Error(Exit::usage, "--report {}: is also the output; name another file", options.report);
  }
  const std::size_t found = inputs.size();
  const std::vector<std::string> left_out = leave_out_unfit(inputs);
  print_warnings(left_out);
  OutputFile out(output);  // opened before the work, so that an unwritable place is reported at once
  const auto report = options.report.empty() ? nullptr : open_output(options.report);
  MergeOptions merge;
  merge.align = !options.no_align && !options.partial;
  merge.is_part = options.partial;
  merge.force = options.force;
  merge.clock_of_each_rank = options.clock_of_each_rank;
  merge.memory_bytes = *options.memory_mib << 20;
  merge.scratch_directory = scratch_directory(output);
  const MergedTotals merged = merge_inputs(inputs, merge, out);
  print_warnings(merged.warnings);
  out.finish();
  if (report != nullptr) {
    write_clock_report(merged.fits, *report);
    report->finish();
  }
  print_line("{}: {}, {}, {}", output, count_text(merged.processes, "process", "processes"),
             count_text(merged.events, "event"), count_text(out.bytes(), "byte"));
  if (!left_out.empty())
    throw Error(Exit::bad_content, "{} of {} inputs were skipped in {}; it contains the others", left_out.size(), found,
                output);
  if (output == "-") return;
  if (options.partial) {
    const std::string parts = std::filesystem::path(output).replace_filename("*.ttrace").string();
    print_line("next, after every node has merged: tracetool merge {} -o run.ttrace", shell_word(parts));
  } else {
    print_line("next: tracetool diagnose {}", shell_word(output));
    print_line("next: tracetool report {}", shell_word(output));
  }
}

std::function<void()> set_up_merge(CLI::App& app) {
  auto options = std::make_shared<MergeCommandOptions>();
  options->inputs = add_inputs(app);
  add_text(app, "-o,--output", options->output, "FILE",
           "Output file (default: named after the first input); - is stdout");
  app.add_option("--report", options->report, "Also write the clock fit of each host as JSON; - is stdout")
      ->type_name("FILE");
  app.add_flag("--partial", options->partial,
               "Merge the ranks of one node only. Their clocks are aligned when the files of all nodes are merged");
  app.add_flag("--force", options->force, "Merge inputs of unrelated runs, with a warning");
  app.add_flag("--no-align", options->no_align, "Keep each host on its own wall clock");
  one_of(app.add_option("--clock-domain",
                        "Unit with its own clock (default: host). A rank with an unknown host has its own clock"),
         "host|rank")
      ->each([options = options.get()](const std::string& word) { options->clock_of_each_rank = word == "rank"; });
  options->memory_mib = add_memory(app);
  return [options] { run_merge(*options); };
}

}  // namespace

Command merge_command() {
  return {
      "merge", "Merge all ranks of a run into one file with one time axis",
      "The merged file is compressed, sorted by time and indexed. All commands read it faster than the recordings.\n"
      "Ranks are read from the recordings, else from file names (rank3, worker3), else from --rank. Host clocks are aligned by\n"
      "shared collectives. The file keeps the original timestamps of each rank and the fit that aligns them.\n"
      "For a large run, merge on each node with --partial, then merge the resulting files. The result is the same. A file\n"
      "that cannot be read, or belongs to another run, is skipped with a warning; the exit status is then 3.\n"
      "Unrelated runs (different run ids or world sizes, or recorded far apart) are merged only with --force.\n"
      "\n"
      "  tracetool merge traces/\n"
      "  tracetool merge traces/ -o run.ttrace --report clocks.json\n"
      "  tracetool merge --rank 0=a.json.gz --rank 1=b.json.gz -o run.ttrace\n"
      "  tracetool merge --partial /local/traces -o /shared/parts/$(hostname).ttrace    # on each node\n"
      "  tracetool merge /shared/parts/*.ttrace -o run.ttrace                           # scripts/merge_job.sh does both",
      set_up_merge};
}

}  // namespace cli
