
#include <cstdint>

#include "cli/answers/tables/analyze.h"
#include "cli/answers/tables/call_paths.h"
#include "cli/answers/tables/cells.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/export_options.h"

namespace cli {
namespace {

struct Folded {
  std::vector<CallPaths::Node> nodes;
  std::uint64_t endless = 0;
};

class FoldedObserver : public TablesObserver {
 public:
  FoldedObserver(const AnalysisContext& context, Folded& folded) : paths_(context, true, true), folded_(folded) {}
  void event(const Event& event, const Facts& facts) override { paths_.event(event, facts); }
  void work(const GpuWork& work) override { paths_.work(work); }
  void end_of(ProcessId process) override { paths_.end_of(process); }
  void finish(const std::vector<ResultTable>&) override { folded_ = {paths_.finish(), paths_.endless()}; }

 private:
  CallPaths paths_;
  Folded& folded_;
};

void check_folded(const ExportOptions& options) {
  const auto refuse = [](const char* option) {
    throw Error(Exit::usage, "{} cannot be combined with --folded", option);
  };
  if (options.format != nullptr)
    throw Error(Exit::usage, "--folded: --{} is given too; choose one format", options.format->flag);
  if (options.manifest) refuse("--manifest");
  if (options.max_bytes) refuse("--max-size");
  if (options.json) refuse("--json");
  if (options.gzip) refuse("--gzip");
  if (!options.selection->min_dur.empty()) refuse("--min-dur");
}

}  // namespace

void export_folded(const ExportOptions& options) {
  check_folded(options);
  AnalysisRequest request;
  request.by = GroupBy::rank;
  request.selection = selection_of(*options.selection);
  const auto inputs = find_inputs(*options.inputs);
  const std::string path = options.output.empty() ? default_output(*options.inputs, inputs, ".folded") : options.output;
  refuse_input_as_output(inputs, path);
  Folded folded;
  request.observers.push_back({{false, CallPaths::kinds(), false}, [&folded](const AnalysisContext& context) {
                                 return std::make_unique<FoldedObserver>(context, folded);
                               }});
  const auto trace = read_inputs(inputs, *options.memory_mib, path, analyzed_events({}, CallPaths::kinds()), true);
  const FoundFacts found = find_facts(*trace);
  std::vector<std::string> notes = analyze(*trace, found.facts, found.steps_found, request).notes;
  const bool is_gpu = *options.folded == FoldedWeight::gpu;
  if (!is_gpu) append_endless_note(notes, folded.endless, "call");
  print_notes(notes);
  const std::unique_ptr<ByteSink> out = open_output(path);
  const std::int64_t sum_ns =
      write_folded(trace->catalog(), folded.nodes, *options.folded, trace->catalog().processes.size() > 1, *out);
  out->finish();
  const char* const next = sum_ns != 0 ? "; open it in speedscope.app, flamegraph.pl or inferno-flamegraph"
                           : is_gpu    ? "; --weight cpu uses host time"
                                       : "; stacks do not contain NVTX ranges, use analyze --only regions";
  print_line("{}: {} of {}{}", path == "-" ? "stdout" : path, duration_text(sum_ns), is_gpu ? "GPU work" : "the host",
             next);
}

}  // namespace cli
