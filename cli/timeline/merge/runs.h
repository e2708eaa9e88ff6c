// Finds the runs in a directory. A run is one execution of a job: recordings with one run id, files merged or exported
// from them, or torch.profiler profiles in one directory or in one directory for each rank (ranks.h).
//
// Files that are no traces are skipped with a reason. So are files that the run has in a better form: a merged file if
// all of its recordings exist (or recordings if all are in a merged file with more), a Kineto export next to its
// recordings, and our own Chrome JSON, which no longer contains the rank of each event.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/formats/inputs/input_formats.h"
#include "cli/formats/inputs/paths.h"
#include "cli/trace/catalog.h"

namespace cli {

struct RunFile {
  std::string path;
  TracePeek peek;
};

struct Run {
  std::string name;           // its run id; for profiles, their directory relative to the searched one
  std::int64_t start_ns = 0;  // wall clock, from file headers and events; 0 if unknown
  std::vector<RunFile> files;
};

struct SkippedFile {
  std::string path;
  std::string reason;  // "empty", "merged from recordings that are read"
};

struct RunList {
  std::vector<Run> runs;  // by start, newest last; runs with unknown start come first
  std::vector<SkippedFile> skipped;
};

// `files` are the files below one directory or of one pattern. Reads headers. A whole profile is read only if there are
// several runs and its beginning does not contain its time.
RunList list_runs(const std::vector<FoundFile>& files);

// Separates inputs that cannot be of one run, by the times when they were recorded.
//
// Inputs belong together if
// - they have the same run id, or
// - they overlap in time, or wrong clocks may explain the gap: hosts whose clocks differ by more than 5 minutes cannot
//   even log in to each other (Kerberos, RFC 4120), or
// - they were profiled at different times of one run: known ranks, or files of one process id, are at most an hour
//   apart, because the ranks of a job are profiled at the same steps or by hand one after the other; phases of a rank
//   (ranks.h) are at most a day apart.
// Times are those on the axis, which are already aligned for inputs with common collectives. Times before 2000 come
// from a clock that was never set and are ignored, unless no clock was set.

// Returns the inputs of each run, all ordered by time; one run if nothing separates them. Processes without times are
// in none.
std::vector<std::vector<ProcessId>> separate_runs(const Catalog& catalog);

// Returns the text for the user about two or more runs; "" for one run.
std::string separate_runs_text(const Catalog& catalog);

}  // namespace cli
