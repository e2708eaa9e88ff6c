// `--run NAME|latest|all`: which of the runs in a directory is meant.
#pragma once
#include <string>
#include <vector>

#include "cli/timeline/merge/runs.h"
#include "cli/trace/run_name.h"

namespace cli {

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

}  // namespace cli
