
#include <cstdio>
#include <filesystem>

#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/base/threads.h"
#include "cli/commands/commands.h"
#include "cli/commands/dump_events.h"
#include "cli/commands/options.h"
#include "cli/formats/inputs/input_formats.h"
#include "cli/formats/inputs/paths.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ring/header.h"
#include "cli/formats/ring/reader.h"
#include "cli/timeline/merge/missing_data.h"
#include "cli/trace/losses.h"

namespace cli {
namespace {

bool is_ring_file(const std::string& path) { return is_ring(PlainFile(path).peek(kProbeBytes)); }

void refuse_directory(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) return;
  throw Error(Exit::usage,
              "{} is a directory; dump prints one file, like {}, or selected events of a run (--run, "
              "--ranks, ...); `tracetool info {}` summarizes all of them",
              path, expand_paths({path}).front(), shell_word(path));
}

struct DumpOptions {
  std::string path, run;
  std::shared_ptr<SelectionOptions> selection;
};

// Prints the whole file, in file order.
void dump_file(const std::string& path) {
  refuse_directory(path);
  OutputFile out("-");
  const std::string file = path == "-" ? stdin_as_file() : readable_file(path);
  if (is_ring_file(file)) {
    const std::string shown = path == "-" ? kStdinName : file;
    path == "-" ? naming_stdin([&] { ring::dump_ring(file, shown, out); }) : ring::dump_ring(file, shown, out);
    const Process recorded = ring::survey_recording(file);
    if (!recorded.cut.empty()) print_warnings({shown + ": " + recorded.cut});
    if (const std::string losses = loss_text(recorded); !losses.empty()) print_warnings({shown + ": " + losses});
    return;
  }
  Catalog catalog;
  DumpEvents dump(catalog, out);
  open_trace(path, {usable_cores()})->read(catalog, dump);
  dump.flush();
  out.finish();
  print_warnings(missing_data(catalog));
}

// Prints the selected events in time order.
void dump_chosen(const DumpOptions& options) {
  const Selection selection = selection_of(*options.selection);
  const auto trace = read_inputs(find_inputs({{options.path}, {}, options.run}), kDefaultMemory >> 20, "-");
  const TraceFacts facts = find_facts(*trace).facts;
  Selector selector(selection, trace->catalog(), facts);
  const Wanted wanted = selector.wanted();
  survey(*trace, selector, wanted);
  OutputFile out("-");
  DumpEvents dump(trace->catalog(), out);
  // Unlike in other commands, flow endpoints are kept only if their kind is selected.
  constexpr auto kFlow = static_cast<std::size_t>(Kind::flow);
  const bool has_ends = !selection.kinds || selection.kinds->test(kFlow);
  EachEvent chosen([&](const Event& event, const Facts& facts) {
    if (selector.judge(event) == LeftOut::kept && (has_ends || event.kind != Kind::flow)) dump.event(event, facts);
  });
  selector.begin_walk();
  trace->walk(chosen, wanted);
  dump.flush();
  out.finish();
}

std::function<void()> set_up_dump(CLI::App& app) {
  auto options = std::make_shared<DumpOptions>();
  app.add_option("FILE", options->path, "Trace; - is stdin. With --run or a filter also a directory or a glob")
      ->required();
  add_run(app, options->run);
  options->selection = add_selection(app);
  return [options] {
    options->run.empty() && !options->selection->any() ? dump_file(options->path) : dump_chosen(*options);
  };
}

}  // namespace

Command dump_command() {
  return {
      "dump", "Print every record of a file as text: a raw record dump",
      "Prints the records of a recording in file order, and any other trace as one event per line:\n"
      "START_NS DURATION_NS PHASE KIND rank N, TRACK: NAME key=value ...    (-1: no end; docs/dump.md has the keys)\n"
      "With --run or a filter (--ranks, --steps, --time, --kinds), prints the events of any trace in time order.\n"
      "\n"
      "  tracetool dump traces/RUN/FILE.ring | head -50\n"
      "  tracetool dump run.ttrace | grep ncclAllReduce\n"
      "  tracetool dump traces/ --ranks 3 --steps 10 --kinds kernel,nccl",
      set_up_dump};
}

}  // namespace cli
