// `runs` for people and programs: a row for each run in a directory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/timeline/merge/runs.h"
#include "cli/trace/ranks.h"

namespace cli {

// `--run NAME|latest|all`: which of the runs in a directory is meant.
struct ChosenFiles {
  std::vector<std::string> paths;
  std::vector<std::string> notes;  // which run of several, what was skipped: a line each
};

// What was named itself stays, whatever it is. Of the files below a directory, those of the run `run` stay, or of the
// newest ("" or "latest"), or all; of a pattern, all that are traces, unless `run` is a name. Throws Error: (usage) where
// no run has that name, or nothing was searched; (cannot_open) where nothing below a directory is a trace.
ChosenFiles choose_run(const std::vector<FoundFile>& files, const std::string& run);

// "20261121-231902-77 (2026-11-21 23:19:02 UTC)"
std::string run_text(const Run& run);

// A line for each reason for which files were set aside, with the first of them and how many more there are; bounded.
std::vector<std::string> skipped_text(const std::vector<SkippedFile>& skipped);

// Throws Error (cannot_open): `root` holds only what was skipped.
[[noreturn]] void refuse_without_trace(const std::string& root, const std::vector<SkippedFile>& skipped);

struct RunRow {
  std::string name;
  std::int64_t start_ns = 0;        // since 1970; 0: unknown
  std::vector<std::int64_t> ranks;  // ascending; processes of unknown rank are not among them
  std::int64_t world_size = -1;     // as its processes say; -1: unknown
  std::uint64_t processes = 0;
  std::int64_t span_ns = 0;  // from the begin of its recordings to their last sign of life; of profiles, of their events
  std::uint64_t overwritten = 0, lost = 0;  // records; lost also counts events of damaged files
  std::uint64_t bytes = 0;                  // of its files
  std::uint64_t removed_runs = 0;           // earlier runs that it removed
  std::string state;                        // "live", "ended", "unknown" (of another host, not closed)
};

std::string runs_text(const std::vector<RunRow>& rows);

// {"runs":[{"run","start_ns","ranks":[],"world_size","processes","span_ns","overwritten","lost","bytes","removed_runs","state"}]};
// start_ns and world_size are null where they are unknown.
void write_runs_json(const std::vector<RunRow>& rows, ByteSink& sink);

}  // namespace cli
