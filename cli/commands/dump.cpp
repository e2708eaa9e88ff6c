#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/dump_events.h"
#include "cli/commands/inputs.h"
#include "cli/io/output_file.h"
#include "cli/merge/missing_data.h"
#include "cli/model/losses.h"
#include "cli/read/formats.h"
#include "cli/read/paths.h"
#include "cli/read/plain_file.h"
#include "cli/read/reader.h"
#include "cli/read/ring_description.h"
#include "cli/read/ring_dump.h"
#include "cli/read/stdin_file.h"

namespace cli {
namespace {

bool is_ring_file(const std::string& path) { return is_ring(PlainFile(path).peek(kProbeBytes)); }

void refuse_folder(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) return;
  throw Error(Exit::usage, fmt::format("{} is a directory: dump shows one file, such as {}; `tracetool info {}` says what is "
                                       "in all of them", path, expand_paths({path}).front(), path));
}

void run_dump(const std::string& path) {
  refuse_folder(path);
  OutputFile out("-");
  const std::string file = path == "-" ? stdin_as_file() : readable_file(path);
  if (is_ring_file(file)) {
    const std::string shown = path == "-" ? kStdinName : file;
    path == "-" ? naming_stdin([&] { dump_ring(file, shown, out); }) : dump_ring(file, shown, out);
    const Process recorded = survey_recording(file);
    if (!recorded.cut.empty()) print_warnings({shown + ": " + recorded.cut});
    if (const std::string losses = loss_text(recorded); !losses.empty()) print_warnings({shown + ": " + losses});
    return;
  }
  Catalog catalog;
  DumpEvents dump(catalog, out);
  open_trace(path)->read(catalog, dump);
  dump.flush();
  out.finish();
  print_warnings(missing_data(catalog));
}

std::function<void()> set_up_dump(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  app.add_option("FILE", *path, "One trace; - is stdin")->required();
  return [path] { run_dump(*path); };
}

}  // namespace

Command dump_command() {
  return {"dump", "Every record of a file as text: a raw record dump",
          "A recording is shown as it lies in the file, record by record; any other trace as one event per line:\n"
          "START_NS DURATION_NS PHASE KIND rank N, TRACK: NAME key=value ...    (-1: no end; docs/dump.md has the keys)\n"
          "\n"
          "  tracetool dump traces/RUN/FILE.ring | head -50\n"
          "  tracetool dump run.ttrace | grep ncclAllReduce",
          set_up_dump};
}

}  // namespace cli
