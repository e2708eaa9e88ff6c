#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/commands/input_options.h"
#include "cli/error.h"
#include "cli/export/formats.h"
#include "cli/io/output_file.h"
#include "cli/io/progress.h"
#include "cli/io/temp_file.h"
#include "cli/merge/ordered_trace.h"
#include "cli/overlay/overlay.h"

namespace cli {
namespace {

struct Options {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<std::size_t> memory_mib;
  std::string output;
  const ExportFormat* format = nullptr;
};

// Hands every event to one method of the exporter.
class Pass : public EventSink {
 public:
  using Method = void (Exporter::*)(const Event&, std::string_view);
  Pass(Exporter& exporter, Method method, Progress& progress)
      : exporter_(exporter), method_(method), progress_(progress) {}
  void event(const Event& event, std::string_view args) override {
    (exporter_.*method_)(event, args);
    progress_.step();
  }

 private:
  Exporter& exporter_;
  Method method_;
  Progress& progress_;
};

// Hands every event to the exporter, with what is computed from them.
class Pictured : public EventSink {
 public:
  Pictured(const Catalog& catalog, Exporter& exporter, Progress& progress)
      : overlay_(catalog, exporter), exporter_(exporter), progress_(progress) {}
  void event(const Event& event, std::string_view args) override {
    overlay_.event(event, args);
    exporter_.event(event, args);
    progress_.step();
  }
  void finish() {
    overlay_.finish();
    for (const std::string& note : overlay_.notes()) fmt::print(stderr, "tracetool: {}\n", note);
  }

 private:
  Overlay overlay_;
  Exporter& exporter_;
  Progress& progress_;
};

ExportSummary write(OrderedTrace& trace, Exporter& exporter, ByteSink& sink) {
  Progress progress("exporting");
  exporter.begin(trace.catalog(), sink);
  if (exporter.needs_two_passes()) {
    Pass prepare(exporter, &Exporter::prepare, progress);
    trace.walk(prepare);
  }
  Pictured events(trace.catalog(), exporter, progress);
  trace.walk(events);
  events.finish();
  return exporter.finish();
}

void say(std::uint64_t count, std::string_view what) {
  if (count != 0) fmt::print(stderr, "  {} {}\n", count, what);
}

void print_summary(const ExportSummary& summary, const std::string& output) {
  fmt::print(stderr, "{}: {} events: {} slices, {} instants, {} counter values, {} arrows\n", output, summary.events_in,
             summary.slices_out, summary.instants_out, summary.counters_out, summary.arrows_out);
  if (summary.derived_slices + summary.derived_values > 0) {
    fmt::print(stderr, "  computed besides: {} slices (idle, exposed communication, losses), {} values of counters\n",
               summary.derived_slices, summary.derived_values);
  }
  say(summary.one_ended_flows, "ends of arrows whose other end is not in the trace: not drawn");
  say(summary.unplaced_flows, "ends of arrows at a place without a slice: not drawn");
  say(summary.backward_arrows, "arrows to work that ended before its launch began: viewers may hide them");
  say(summary.works_without_launch, "kernels and copies whose launch is not in the trace: drawn without an arrow");
  say(summary.unfinished, "slices whose end is not in the trace: drawn to its end");
  if (!summary.balanced()) fmt::print(stderr, "  warning: not every event was drawn or counted; please report this\n");
}

void run(const Options& options) {
  const std::vector<TraceInput> inputs = resolve(*options.inputs);
  const std::string& first = options.inputs->paths.empty() ? inputs[0].path : options.inputs->paths[0];
  const std::string output =
      options.output.empty() ? name_beside(first, std::string(options.format->extension)) : options.output;
  const ExportFormat& format = format_for(*options.format, output);
  refuse_input_as_output(inputs, output);
  // A name that the user did not choose may be that of the trace that the input was made from.
  if (options.output.empty() && std::filesystem::exists(output)) {
    throw Error(Exit::usage, fmt::format("{} exists; name the output with -o, the same to replace it", output));
  }
  const auto out = open_output(output);
  const auto trace = order_traces(inputs, {true, *options.memory_mib << 20, scratch_folder(output)});
  for (const std::string& warning : trace->warnings) fmt::print(stderr, "tracetool: warning: {}\n", warning);
  const auto exporter = format.make({compression_for(PacketCompression::deflate, output), false});
  const ExportSummary summary = write(*trace, *exporter, *out);
  out->finish();
  print_summary(summary, output);
  if (output != "-") fmt::print(stderr, "next: open {} there: {}\n", output, format.help);
}

std::function<void()> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->inputs = add_inputs(app);
  CLI::Option_group* formats = app.add_option_group("format", "one of");
  for (const ExportFormat& format : export_formats()) {
    formats->add_flag_callback(
        fmt::format("--{}", format.flag), [options, &format] { options->format = &format; }, std::string(format.help));
  }
  formats->require_option(1);
  app.add_option("-o,--output", options->output,
                 "The file to write, compressed when it ends in .gz; - is stdout (default: beside the input)")
      ->type_name("FILE");
  options->memory_mib = add_memory(app);
  return [options] { run(*options); };
}

}  // namespace

Command export_command() {
  return {"export", "A picture of the trace for a viewer",
          "Reads a merged file, or recordings, which it then puts in order first. Every event is in the picture, or "
          "counted\n"
          "as left out with the reason.\n"
          "\n"
          "  tracetool export --perfetto run.ttrace -o run.json.gz     # then open it in ui.perfetto.dev\n"
          "  tracetool export --chrome traces/ -o - | less",
          set_up};
}

}  // namespace cli
