// The runs that lie in a directory. A run is one execution of a job: the recordings with one run id, what was merged or
// exported of them, or the profiles of torch.profiler in one directory, or in one directory for each rank (ranks.h).
//
// What is no trace is set aside with the reason, and so is what the run has in a better form: a merged file of which all
// recordings are there (or recordings that are all in a merged file with more), a Kineto export beside its recordings,
// and Chrome JSON that we exported, which no longer says which event is of which rank.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/formats/inputs/paths.h"
#include "cli/formats/inputs/input_formats.h"
#include "cli/trace/catalog.h"

namespace cli {

struct RunFile {
  std::string path;
  TracePeek peek;
};

struct Run {
  std::string name;           // its run id; of profiles, their directory below the one that was searched
  std::int64_t start_ns = 0;  // wall clock, as the files' headers and events tell; 0: unknown
  std::vector<RunFile> files;
};

struct SkippedFile {
  std::string path;
  std::string reason;  // "empty", "merged from recordings that are read"
};

struct RunList {
  std::vector<Run> runs;  // by start, the newest last; those of unknown start first
  std::vector<SkippedFile> skipped;
};

// `files` are those below one directory, or of one pattern. Reads headers; a whole profile only where there are several
// runs and its beginning does not tell its time.
RunList list_runs(const std::vector<FoundFile>& files);

// Which inputs cannot be of one run, by when they were recorded.
//
// Inputs belong together when
// - they have one run id, or
// - they overlap in time, or a clock may explain the gap: hosts whose clocks differ by more than 5 minutes cannot even log in to each other
//   (Kerberos, RFC 4120), or
// - they were profiled at other times of one run: ranks that are known, or files of one process id, are at most an hour apart, because the
//   ranks of a job are profiled at the same steps, or one after the other by hand; phases of a rank (ranks.h) at most a day.
// Times are those on the axis: collectives that two inputs share put them where they belong before. A clock that was never set (it reads a
// time before 2000) says nothing of when an input was recorded next to clocks that were; it counts only when no clock was set.

// The inputs of each run, all in order of time. One run if nothing separates them. Processes without times are in none.
std::vector<std::vector<ProcessId>> separate_runs(const Catalog& catalog);

// What a person is told of two runs or more; "" for one.
std::string separate_runs_text(const Catalog& catalog);

}  // namespace cli
