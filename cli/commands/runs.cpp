#include "cli/timeline/merge/runs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/base/threads.h"
#include "cli/commands/commands.h"
#include "cli/commands/inputs.h"
#include "cli/commands/runs_text.h"
#include "cli/formats/ring/spool_file.h"
#include "cli/timeline/merge/catalogs.h"
#include "cli/timeline/merge/ranks.h"
#include "cli/trace/catalog.h"

namespace cli {
namespace {

struct RunsOptions {
  std::string directory;
  bool json = false;
};

std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) return 0;
  const std::string spool = ring::spool_of(path);
  const std::uint64_t more = spool.empty() ? 0 : std::filesystem::file_size(spool, error);
  return error ? bytes : bytes + more;
}

// Reads profiles as a whole; for other files, the peek has all that is needed.
std::vector<Process> processes_of(const RunFile& file, std::optional<std::int64_t> named_rank, Progress& progress) {
  if (!file.peek.processes.empty()) return file.peek.processes;
  Catalog catalog;
  MergedFacts merged;
  try {
    read_catalog({file.path, {}}, usable_cores(), progress, catalog, merged);
    give_named_rank(catalog, 0, named_rank);
  } catch (const Error& error) {
    print_line("tracetool: warning: {}", error.what());
  }
  return std::move(catalog.processes);
}

RunRow row_of(const Run& run, const std::vector<Process>& processes) {
  RunRow row;
  row.name = run.name;
  std::set<std::int64_t> ranks;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max(), last_ns = std::numeric_limits<std::int64_t>::min();
  bool is_live = false, is_unknown = false;
  for (const Process& p : processes) {
    ++row.processes;
    if (p.rank >= 0) ranks.insert(p.rank);
    row.world_size = std::max(row.world_size, p.world_size);
    row.overwritten += total(p.overwritten);
    row.removed_runs += p.recorder.removed_runs;
    row.lost += total(p.lost) + p.lost_unknown_kind;
    is_live = is_live || p.state == RecordingState::live;
    is_unknown = is_unknown || (p.format == SourceFormat::ring && p.state == RecordingState::unknown);
    if (p.first_ns == 0 && p.last_ns == 0) continue;
    first_ns = std::min(first_ns, p.first_ns);
    last_ns = std::max(last_ns, p.last_ns);
  }
  row.ranks.assign(ranks.begin(), ranks.end());
  if (first_ns <= last_ns) {
    row.start_ns = first_ns;
    row.span_ns = last_ns - first_ns;
  }
  row.state = is_live ? "live" : is_unknown ? "unknown" : "ended";
  for (const RunFile& file : run.files) row.bytes += size_of(file.path);
  return row;
}

void run_runs(const RunsOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.directory, error))
    throw Error(Exit::cannot_open,
                "{}: not a directory; give a directory of recordings, or use `tracetool info` for a file",
                options.directory);
  const RunList list = list_runs(find_files({options.directory}));
  if (list.runs.empty()) refuse_without_trace(options.directory, list.skipped);
  print_notes(skipped_text(list.skipped));
  std::vector<RunRow> rows;
  {
    Progress progress("reading");
    for (const Run& each : list.runs) {
      std::vector<Process> processes;
      std::vector<std::string> paths;
      for (const RunFile& file : each.files) paths.push_back(file.path);
      const auto named = rank_names(paths);
      for (std::size_t i = 0; i < paths.size(); ++i) {
        for (Process& process : processes_of(each.files[i], named[i], progress))
          processes.push_back(std::move(process));
      }
      rows.push_back(row_of(each, processes));
    }
  }
  OutputFile out("-");
  if (options.json) {
    write_runs_json(rows, out);
  } else {
    out.write(runs_text(rows));
    out.write(fmt::format("next: tracetool {} --run {}  # the newest of these\n", shell_word(options.directory),
                          shell_word(rows.back().name)));
  }
  out.finish();
}

std::function<void()> set_up_runs(CLI::App& app) {
  auto options = std::make_shared<RunsOptions>();
  app.add_option("DIR", options->directory, "Directory of recordings or profiles")->required();
  app.add_flag("--json", options->json, "Print one JSON object, for programs");
  return [options] { run_runs(*options); };
}

}  // namespace

Command runs_command() {
  return {
      "runs", "List the runs in a directory: start, ranks, span, losses, size, state",
      "The newest run is last. Other commands read the newest run of a directory, or the run given with --run NAME.\n"
      "A run consists of recordings with the same run id, or of torch.profiler traces in one directory. The span of a\n"
      "recording is from its start to its last heartbeat, including events that were overwritten.\n"
      "\n"
      "  tracetool runs traces/\n"
      "  tracetool runs traces/ --json | jq -r '.runs[].run'",
      set_up_runs};
}

}  // namespace cli
