// Where to part an output that is too large: noted while it is written whole, decided afterwards.
//
// Memory: 24 bytes for each step, and for each 256th of the limit that is written.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/show/export/export_job.h"

namespace cli {

class CutPlan {
 public:
  // `step_starts`: where one would like to cut, ascending.
  CutPlan(std::uint64_t limit_bytes, std::vector<std::int64_t> step_starts)
      : limit_bytes_(limit_bytes), step_starts_(std::move(step_starts)) {}

  // Before every event, in the order of time: what stands in the output so far.
  void note(std::int64_t start_ns, std::uint64_t bytes);

  struct Cut {
    std::int64_t at_ns = 0;  // what starts here is in the next part
    bool at_step = false;
  };
  // Parts of at most the limit, as far as that is possible: what starts at one moment stays together. A cut is
  // at the last step that begins in the second half of a part, else as late as possible. `total_bytes` may be less than
  // was noted: the format compresses, and parts are taken to shrink as the whole did.
  std::vector<Cut> cuts(std::uint64_t total_bytes) const;

 private:
  struct Candidate {
    std::int64_t at_ns;
    std::uint64_t bytes;
    bool at_step;
  };
  void add(std::int64_t at_ns, std::uint64_t bytes, bool at_step);
  const Candidate& choose(std::size_t from, std::uint64_t begin_bytes, std::uint64_t most_bytes) const;

  std::uint64_t limit_bytes_;
  std::vector<std::int64_t> step_starts_;
  std::size_t step_ = 0;  // the next one
  std::vector<Candidate> candidates_;
  std::int64_t last_ns_ = 0;
  std::uint64_t noted_bytes_ = 0;  // at the last event
  std::uint64_t head_bytes_ = 0;  // what every part begins with: names of tracks
  enum class Seen : std::uint8_t { nothing, one_event, more } seen_ = Seen::nothing;
};

// An export into one file, or into parts of it where it would be too large.

// "-" is stdout, which is never split. The segments are run.segment1.json.gz, run.segment2.json.gz, ... for run.json.gz; each
// opens by itself. They hold what the whole would hold, each event once, but no flow from one to another. Writing
// parts takes twice as long: sizes are known only once all was written. `limit_bytes` is of uncompressed bytes; 0: no
// parts. All parts get their names at the end; what an earlier export left under such names is noted. Throws Error.
ExportReport write_file(const ExportJob& job, const std::string& output, std::uint64_t limit_bytes);

}  // namespace cli
