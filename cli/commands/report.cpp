

#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/clock_report.h"
#include "cli/commands/commands.h"
#include "cli/commands/info_text.h"
#include "cli/commands/options.h"
#include "cli/timeline/select/ranges.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

std::string default_title(const InputOptions& inputs) { return "tracetool report of " + inputs_text(inputs); }

// Sorted. Throws Error (usage) if a rank is not in the trace.
std::vector<std::int64_t> ranks_in(const NumberRanges& ranges, const Catalog& catalog) {
  std::set<std::int64_t> there;
  for (const Process& process : catalog.processes) {
    if (process.rank >= 0) there.insert(process.rank);
  }
  if (const auto missing = ranges.first_missing(there))
    throw Error(Exit::usage, "--timeline-ranks {}: rank {} is not in the trace, {}", ranges.text(), *missing,
                there.empty() ? "which has unknown ranks" : "which has " + rank_list({there.begin(), there.end()}));
  std::vector<std::int64_t> ranks;
  for (const std::int64_t rank : there) {
    if (ranges.holds(rank)) ranks.push_back(rank);
  }
  return ranks;
}

void run_report(const ReportOptions& options) {
  const auto inputs = find_inputs(*options.inputs);
  const std::string output = options.output.empty() ? default_output(*options.inputs, inputs, ".html") : options.output;
  refuse_input_as_output(inputs, output);
  const report::Report report = report_of(options, inputs, output);
  write_output(output, report.html);
  print_notes(report.notes);
  const bool is_file = output != "-";
  print_line("{}: {}, {} bytes", is_file ? output : "stdout", count_text(report.findings, "finding"),
             report.html.size());
  if (is_file) print_line("next: open {} in a browser", shell_word(output));
}

std::function<void()> set_up_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  options->inputs = add_inputs(app);
  add_text(app, "-o,--output", options->output, "FILE",
           "Output file (default: named after the first input); - is stdout");
  app.add_option("--step", options->step, "Training step to show in the timeline (default: a step of median length)")
      ->type_name("N");
  add_text(
      app, "--timeline-ranks", options->timeline_ranks, "LIST",
      "Ranks to show with all slices in the timeline, at most 16 (default: the first 16). The other ranks show only how busy they are");
  add_text(app, "--classes", options->classes, "FILE", "File of kernel name rules that take precedence (see analyze)");
  options->peaks = add_peaks(app);
  add_text(app, "--title", options->title, "TEXT", "Title of the page");
  options->selection = add_selection(app);
  app.remove_option(app.get_option("--kinds"));  // tables and rules always use all kinds
  options->memory_mib = add_memory(app);
  return [options] { run_report(*options); };
}

}  // namespace

report::Report report_of(const ReportOptions& options, const std::vector<TraceInput>& inputs,
                         const std::string& output) {
  report::ReportRequest request;
  request.inputs = inputs_text(*options.inputs);
  request.selected = selection_text(*options.selection);
  request.timeline.inputs = request.inputs;
  request.title = options.title.empty() ? default_title(*options.inputs) : options.title;
  request.selection = selection_of(*options.selection);
  request.timeline.step = options.step;
  const std::optional<NameRules> class_rules = read_class_rules(options.classes, output);
  request.class_rules = class_rules ? &*class_rules : nullptr;
  const OwnPeaks own_peaks = options.peaks->peaks();
  request.own_peaks = &own_peaks;
  const auto trace = read_inputs(inputs, *options.memory_mib, output, report::reported_events(), true);
  if (!options.timeline_ranks.empty())
    request.timeline.ranks = ranks_in(NumberRanges("--timeline-ranks", options.timeline_ranks), trace->catalog());
  const FoundFacts found = find_facts(*trace);
  request.recorder = recorder_text(trace->catalog());
  request.clocks = clocks_text(trace->catalog(), trace->fits());
  return report::make_report(*trace, found.facts, found.steps_found, request);
}

Command report_command() {
  return {
      "report", "Write one HTML page with charts: summary, findings, tables, timeline",
      "The page is one file and needs no network, so you can mail it or store it with the run. It contains host names,\n"
      "process ids and paths. It has the tables of `analyze` and the findings of `diagnose`. Only the timeline's zoom needs\n"
      "JavaScript.\n"
      "\n"
      "  tracetool report traces/\n"
      "  tracetool report run.ttrace -o report.html --step 12 --timeline-ranks 0-3,7",
      set_up_report};
}

}  // namespace cli
