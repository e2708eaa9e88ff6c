// The runs that lie in a directory. A run is one execution of a job: the recordings with one run id, what was merged or
// exported of them, or the profiles of torch.profiler in one directory, or in one directory for each rank (rank_names.h).
//
// What is no trace is set aside with the reason, and so is what the run has in a better form: a merged file of which all
// recordings are there (or recordings that are all in a merged file with more), a Kineto export beside its recordings,
// and Chrome JSON that we exported, which no longer says which event is of which rank.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/formats/inputs/paths.h"
#include "cli/formats/inputs/trace_peek.h"

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

}  // namespace cli
