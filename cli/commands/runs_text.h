// Implements `runs`: text and JSON with a row per run in a directory, and the choice of a run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/timeline/merge/runs.h"

namespace cli {

// The files selected by `--run NAME|latest|all`.
struct ChosenFiles {
  std::vector<std::string> paths;
  std::vector<std::string> notes;  // which of several runs, what was skipped: a line each
};

// Keeps all files that the user named. Below a directory, keeps the files of the run `run`, of the newest run ("" or
// "latest"), or all of them. For a pattern, keeps all traces unless `run` is a name. Throws Error: (usage) if no run
// has that name or nothing was searched; (cannot_open) if a directory contains no trace.
ChosenFiles choose_run(const std::vector<FoundFile>& files, const std::string& run);

// Returns, for example, "20261121-231902-77 (2026-11-21 23:19:02 UTC)".
std::string run_text(const Run& run);

// Returns one line per reason for skipped files, with the first file and the number of others. The number of lines is
// bounded.
std::vector<std::string> skipped_text(const std::vector<SkippedFile>& skipped);

// Throws Error (cannot_open): `root` contains only skipped files.
[[noreturn]] void refuse_without_trace(const std::string& root, const std::vector<SkippedFile>& skipped);

struct RunRow {
  std::string name;
  std::int64_t start_ns = 0;        // ns since 1970; 0 if unknown
  std::vector<std::int64_t> ranks;  // sorted; without processes of unknown rank
  std::int64_t world_size = -1;     // from its processes; -1 if unknown
  std::uint64_t processes = 0;
  // From the begin of its recordings to their last sign of life; for profiles, of their events
  std::int64_t span_ns = 0;
  std::uint64_t overwritten = 0, lost = 0;  // records; lost also counts events of damaged files
  std::uint64_t bytes = 0;                  // of its files
  std::uint64_t removed_runs = 0;           // earlier runs that this run removed
  std::string state;                        // "live", "ended", "unknown" (from another host, not closed)
};

std::string runs_text(const std::vector<RunRow>& rows);

// Writes
// {"runs":[{"run","start_ns","ranks":[],"world_size","processes","span_ns","overwritten","lost","bytes",
// "removed_runs","state"}]}.
// start_ns and world_size are null if unknown.
void write_runs_json(const std::vector<RunRow>& rows, ByteSink& sink);

}  // namespace cli
