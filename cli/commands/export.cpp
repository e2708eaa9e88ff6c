#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/answers/memory/category_changes.h"
#include "cli/base/files.h"
#include "cli/base/output_file.h"
#include "cli/commands/commands.h"
#include "cli/commands/export_options.h"
#include "cli/commands/export_text.h"
#include "cli/commands/inputs.h"
#include "cli/show/export/export_job.h"
#include "cli/show/export/write_directory.h"
#include "cli/show/export/write_file.h"
#include "cli/show/export/write_manifest.h"
#include "cli/timeline/collectives/joined_collectives.h"
#include "cli/timeline/merge/align.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/trace/losses.h"

namespace cli {
namespace {

// Reports an unwritable output before the work. Skips pipes, whose readers would take the end of the test for the end
// of the output.
void check_writable(const ExportTarget& target) {
  if (target.form == ExportTarget::Form::directory || target.path == "-") return;
  std::error_code error;
  const auto type = std::filesystem::status(target.path, error).type();
  if (type != std::filesystem::file_type::fifo && type != std::filesystem::file_type::character)
    OutputFile probe(target.path);
}

// Processes that an exporter may mention. With files per process, those without events get no file.
std::vector<bool> shown(const Catalog& catalog, const Selector& selector, ExportTarget::Form form) {
  std::vector<bool> shown(catalog.processes.size());
  for (ProcessId id = 0; id < shown.size(); ++id) {
    const bool told = form == ExportTarget::Form::file || !lost_everything(catalog.processes[id]);
    shown[id] = selector.has(id) && told;
  }
  return shown;
}

ExportReport write(const ExportJob& job, const ExportTarget& target) {
  switch (target.form) {
    case ExportTarget::Form::directory:
      return write_directory(job, target.path);
    case ExportTarget::Form::manifest:
      return write_manifest(job, target.path, scratch_directory(target.path));
    default:
      return write_file(job, target.path, target.max_bytes);
  }
}

// Shown time of each process, which the selector has after its survey.
Wanted shown_times(const Selector& selector, std::size_t processes) {
  Wanted shown = selector.wanted();
  if (shown.times.empty()) return shown;
  for (ProcessId id = 0; id < processes; ++id) {
    const TimeWindow window = selector.window(id);
    shown.times[id] = {{window.from_ns, window.to_ns}};
  }
  return shown;
}

// Used for a file that contains its steps, so that no walk was necessary to find them.
JoinedCollectives join_chosen(OrderedTrace& trace, const Wanted& chosen) {
  if (!chosen.times.empty()) {
    CollectiveJoin join(trace.catalog());
    trace.walk(join, CollectiveJoin::wanted_near(chosen));
    if (std::optional<JoinedCollectives> near = join.take_near(chosen)) return std::move(*near);
  }
  CollectiveJoin join(trace.catalog());
  trace.walk(join, CollectiveJoin::wanted());
  return join.take(chosen);
}

// Returns nullopt if the trace has no allocations of PyTorch's allocator.
std::optional<memory::CategoryChanges> memory_by_category(OrderedTrace& trace, const Selector& selector) {
  if (trace.catalog().strings.find("[memory]") == 0) return std::nullopt;
  memory::TraceMemory memory(trace.catalog());
  Wanted wanted;
  wanted.processes = selector.wanted().processes;
  wanted.kinds = memory::TraceMemory::kinds();
  trace.walk(memory, wanted);
  return memory::category_changes(memory);
}

ExportReport write(OrderedTrace& trace, const std::vector<TraceInput>& inputs, const ExportOptions& options,
                   const ExportTarget& target) {
  const Selection selection = selection_of(*options.selection);
  const bool joins = !options.no_computed && target.format->joins_ranks && trace.catalog().processes.size() > 1 &&
                     may_have_collectives(trace.catalog());
  std::optional<CollectiveJoin> join;
  if (joins) join.emplace(trace.catalog());
  const FoundFacts found = find_facts(trace, join ? &*join : nullptr);
  const TraceFacts& facts = found.facts;
  Selector selector(selection, trace.catalog(), facts);
  Wanted wanted = selector.wanted();
  // Derived tracks need all events of a rank.
  if (!options.no_computed) {
    wanted.times.clear();
    wanted.kinds.reset();
  }
  survey(trace, selector, wanted);
  JoinedCollectives collectives;
  if (joins) {
    const Wanted chosen = shown_times(selector, trace.catalog().processes.size());
    collectives = found.walked ? join->take(chosen) : join_chosen(trace, chosen);
  }
  join.reset();
  const auto categories = options.no_computed ? std::nullopt : memory_by_category(trace, selector);
  const std::vector<bool> told = shown(trace.catalog(), selector, target.form);
  const bool all = std::ranges::find(told, false) == told.end();
  const Catalog some = all ? Catalog() : chosen_catalog(trace.catalog(), told);
  const Steps steps = selector.chosen(facts.steps);
  ExportJob job;
  job.trace = &trace;
  job.catalog = all ? &trace.catalog() : &some;
  job.selector = &selector;
  job.steps = &steps;
  job.wanted = std::move(wanted);
  job.format = target.format;
  job.format_options = target.format_options;
  job.format_options.computed = !options.no_computed;
  job.gzip = options.gzip;
  job.computed = !options.no_computed;
  if (!collectives.collectives.empty()) job.collectives = &collectives;
  if (categories) job.categories = &*categories;
  job.origin_ns = facts.first_ns;
  job.check_output = [&inputs](const std::string& path) { refuse_input_as_output(inputs, path); };
  ExportReport report = write(job, target);
  report.notes.insert(report.notes.end(), collectives.notes.begin(), collectives.notes.end());
  return report;
}

void say(const ExportReport& report, const ExportOptions& options, const ExportTarget& target) {
  const bool tar = target.form == ExportTarget::Form::manifest;
  const bool is_json = target.format->extension.find(".json") != std::string_view::npos;
  const bool plain_tar = tar && !options.gzip && !target.path.ends_with(".gz");
  const ExportSaid said{target.path, tar ? "ui.perfetto.dev, v58 or newer" : std::string(target.format->viewers),
                        std::string(target.format->computed), target.max_bytes, is_json && !plain_tar};
  print_export(report, said);
  if (!options.json) return;
  OutputFile out("-");
  write_export_json(report, said, out);
}

void run_export(const ExportOptions& options) {
  if (options.folded) return export_folded(options);
  selection_of(*options.selection);  // report invalid words before the work
  const auto inputs = find_inputs(*options.inputs);
  const ExportTarget target = target_of(options, inputs);
  say(export_to(target, inputs, options), options, target);
}

std::function<void()> set_up_export(CLI::App& app) {
  return [options = add_export_options(app)] { run_export(*options); };
}

}  // namespace

ExportReport export_to(const ExportTarget& target, const std::vector<TraceInput>& inputs,
                       const ExportOptions& options) {
  check_writable(target);
  const auto trace = read_inputs(inputs, *options.memory_mib, target.path);
  return write(*trace, inputs, options, target);
}

Command export_command() {
  return {"export", "Write the trace in the format of a viewer",
          "Reads a merged file or recordings. Every event is written, or counted as excluded or lost with the\n"
          "reason. Recordings are merged first.\n"
          "\n"
          "  tracetool export --perfetto run.ttrace -o run.json.gz     # then open it in ui.perfetto.dev\n"
          "  tracetool export --perfetto run.ttrace --ranks 0-3 --steps 10-12\n"
          "  tracetool export --folded run.ttrace --steps 10-12        # for flame graphs\n"
          "  tracetool export --chrome traces/ --time 100ms-200ms --kinds kernel,memcpy -o - | less",
          set_up_export};
}

}  // namespace cli
