// Tracks of collectives: each rank has one track per communicator, below its GPU, with separate slices for waiting and
// transferring.
//
// The tracks belong to ranks because waits do. The alternative, one process for all ranks with a track per
// communicator, needs a lane per rank, because the waits of ranks overlap. With 1,024 ranks in groups of 8 it would
// have 128 tracks of equal name, and it would be lost if only a few ranks are chosen or each rank has its own file.
#pragma once
#include <deque>
#include <vector>

#include "cli/timeline/collectives/joined_collectives.h"
#include "cli/trace/derived.h"

namespace cli {

class CollectiveTracks {
 public:
  // `joined` and the sink must outlive this object. `drawn` is by ProcessId.
  CollectiveTracks(const JoinedCollectives& joined, std::vector<bool> drawn, DerivedSink& sink)
      : joined_(joined), drawn_(std::move(drawn)), sink_(sink), of_(drawn_.size()) {}

  // Emits what has ended by `now_ns`, which must not decrease.
  void until(ProcessId process, std::int64_t now_ns);
  // See Overlay::cut.
  void cut(std::int64_t at_ns);
  void finish();

 private:
  struct OfProcess {
    std::size_t next = 0;         // index in JoinedCollectives::parts
    std::deque<JoinedPart> open;  // sorted by start
  };
  void open(ProcessId process, std::int64_t before_ns);
  void give(ProcessId process, const JoinedPart& part, std::int64_t end_ns) const;

  const JoinedCollectives& joined_;
  std::vector<bool> drawn_;
  DerivedSink& sink_;
  std::vector<OfProcess> of_;
};

}  // namespace cli
