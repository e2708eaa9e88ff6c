#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/base/error.h"
#include "cli/base/file_server.h"
#include "cli/base/files.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/export_options.h"
#include "cli/commands/export_text.h"
#include "cli/commands/options.h"

namespace cli {
namespace {

// The only port on the local machine that the content security policy of Perfetto's page allows. Perfetto's
// tools/open_trace_in_ui uses it too.
constexpr std::uint16_t kPerfettoPort = 9001;
constexpr const char* kPerfetto = "https://ui.perfetto.dev";

struct OpenOptions {
  std::shared_ptr<InputOptions> inputs;
  std::shared_ptr<SelectionOptions> selection;
  std::shared_ptr<std::size_t> memory_mib;
  bool is_report = false, starts_browser = false;
};

void write_page(const OpenOptions& options, const std::vector<TraceInput>& inputs, const std::string& path) {
  ReportOptions report;
  report.inputs = options.inputs;
  report.selection = options.selection;
  report.peaks = std::make_shared<PeakOptions>();
  report.memory_mib = options.memory_mib;
  const report::Report page = report_of(report, inputs, path);
  print_notes(page.notes);
  write_output(path, page.html);
}

void write_trace(const OpenOptions& options, const std::vector<TraceInput>& inputs, const std::string& path) {
  ExportOptions exported;
  exported.inputs = options.inputs;
  exported.selection = options.selection;
  exported.memory_mib = options.memory_mib;
  exported.output = path;
  exported.format = format_by_name(path);
  const ExportTarget target = target_of(exported, inputs);
  ExportReport report = export_to(target, inputs, exported);
  report.files.clear();  // the temporary file is removed before the user reads this
  print_export(report, {"trace", std::string(target.format->viewers), std::string(target.format->computed), 0, false});
}

std::string served_name(const OpenOptions& options, const std::vector<TraceInput>& inputs, const char* extension) {
  std::string name = output_name(options.inputs->paths.empty() ? inputs[0].path : options.inputs->paths[0], extension);
  for (char& c : name) {
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '.' && c != '-') c = '_';
  }
  return name;
}

// Writes the file, opens it in the server, and removes its name. The kernel frees it when the process ends, even after kill -9.
std::unique_ptr<FileServer> make_server(const OpenOptions& options) {
  const auto inputs = find_inputs(*options.inputs);
  // Fails before the work if the port is in use
  auto server = std::make_unique<FileServer>(options.is_report ? 0 : kPerfettoPort);
  ::umask(S_IRWXG | S_IRWXO);
  const std::filesystem::path directory =
      std::filesystem::path(scratch_directory("-")) / ("tracetool-" + random_token());
  const NewDirectory created(directory.string());
  const char* extension = options.is_report ? ".html" : ".pftrace";
  const std::string name = served_name(options, inputs, extension);
  ServedFile file{directory / name, name, "application/octet-stream", kPerfetto};
  if (options.is_report) {
    file.type = "text/html; charset=utf-8";
    file.allowed_origin.clear();
    write_page(options, inputs, file.path);
  } else {
    write_trace(options, inputs, file.path);
  }
  server->open(file);
  std::filesystem::remove(file.path);
  return server;
}

void start_browser(std::string address) {
  std::string program = "xdg-open";
  char* words[] = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, environ) != 0)
    print_line("tracetool: cannot start xdg-open; open the address yourself");
}

void run_open(const OpenOptions& options) {
  if (options.is_report && !options.selection->kinds.empty())
    throw Error(Exit::usage, "--kinds: a report needs events of all kinds");
  const std::unique_ptr<FileServer> server = make_server(options);
  const std::string address =
      options.is_report ? server->address() : std::string(kPerfetto) + "/#!/?url=" + server->address();
  write_output("-", address + "\n");
  print_line("tracetool: open this address in a browser on this machine; Ctrl-C stops the server");
  if (options.starts_browser) start_browser(address);
  server->run();
}

std::function<void()> set_up_open(CLI::App& app) {
  auto options = std::make_shared<OpenOptions>();
  options->inputs = add_inputs(app);
  app.add_flag("--report", options->is_report, "Open the page of `report` instead of the timeline");
  app.add_flag("--browser", options->starts_browser, "Open the address with xdg-open");
  options->selection = add_selection(app);
  options->memory_mib = add_memory(app);
  return [options] { run_open(*options); };
}

}  // namespace

Command open_command() {
  return {
      "open", "Open a trace in Perfetto's UI, or its report, in a browser on this machine",
      "Exports to a temporary file, prints an address and serves the file on 127.0.0.1 until Ctrl-C. Access requires the\n"
      "random token in the address. Perfetto's UI runs in the browser, so the trace stays on this machine.\n"
      "Perfetto reads only from port 9001, so one trace can be open at a time. For another machine: ssh -L 9001:127.0.0.1:9001.\n"
      "\n"
      "  tracetool open traces/\n"
      "  tracetool open run.ttrace --steps 10-12 --browser\n"
      "  tracetool open --report traces/",
      set_up_open};
}

}  // namespace cli
