// `runs` for people and programs: a row for each run in a directory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/byte_sink.h"

namespace cli {

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
