// Decides where to split an output that is too large. It records positions during the first, complete write, and
// chooses the cuts afterwards.
//
// Memory: 24 bytes per step, and per 1/256 of the limit that is written.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/show/export/export_job.h"

namespace cli {

class CutPlan {
 public:
  // `step_starts` are the preferred cuts, sorted.
  CutPlan(std::uint64_t limit_bytes, std::vector<std::int64_t> step_starts)
      : limit_bytes_(limit_bytes), step_starts_(std::move(step_starts)) {}

  // Call it before every event, in time order, with the size of the output so far.
  void note(std::int64_t start_ns, std::uint64_t bytes);

  struct Cut {
    std::int64_t at_ns = 0;  // events that start here are in the next segment
    bool at_step = false;
  };
  // Returns cuts for segments within the limit. Events that start at the same moment stay together, so a segment may
  // exceed it. A cut is at the last step that begins in the second half of a segment, else as late as possible.
  // `total_bytes` may be less than was noted if the format compresses; segments are assumed to shrink by the same
  // factor.
  std::vector<Cut> cuts(std::uint64_t total_bytes) const;

 private:
  struct Candidate {
    std::int64_t at_ns;
    std::uint64_t bytes;
    bool at_step;
  };
  const Candidate& choose(std::size_t from, std::uint64_t begin_bytes, std::uint64_t most_bytes) const;

  std::uint64_t limit_bytes_;
  std::vector<std::int64_t> step_starts_;
  std::size_t step_ = 0;  // index of the next step
  std::vector<Candidate> candidates_;
  std::int64_t last_ns_ = 0;
  std::uint64_t noted_bytes_ = 0;  // at the last event
  std::uint64_t head_bytes_ = 0;   // the beginning of every segment: names of tracks
  enum class Seen : std::uint8_t { nothing, one_event, more } seen_ = Seen::nothing;
};

// Exports into one file, or into segments if it would be too large. "-" is stdout, which is never split. The segments
// of run.json.gz are run.segment1.json.gz, run.segment2.json.gz, ...; each opens by itself. Together they contain each
// event of the whole once, but no flows between segments. Writing segments takes twice as long, because sizes are known
// only after everything was written. `limit_bytes` is in uncompressed bytes; 0 disables splitting. All segments get
// their names at the end. Old segments of an earlier export are reported. Throws Error.
ExportReport write_file(const ExportJob& job, const std::string& output, std::uint64_t limit_bytes);

}  // namespace cli
