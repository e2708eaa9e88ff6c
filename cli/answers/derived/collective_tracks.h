// Tracks of collectives: of each rank one for each of its communicators, beneath its GPU, on which waiting and transferring are
// slices apart.
//
// Waits are of a rank, so they are written with it. (One process for all ranks, with a track for each communicator, was the other
// choice. There the waits of ranks overlap, so that 8 ranks take 8 lanes and 1,024 ranks 1,024; of 1,024 ranks in groups of 8 it
// would have 128 tracks of equal name; nothing would stay of it when a few ranks are chosen, or each rank has a file of its own.
// With the rank, a rank has as many tracks as communicators, a handful, whatever the number of ranks.)
#pragma once
#include <deque>
#include <vector>

#include "cli/trace/derived.h"
#include "cli/timeline/collectives/joined_collectives.h"

namespace cli {

class CollectiveTracks {
 public:
  // `joined` and the sink outlive it. `written`: by ProcessId.
  CollectiveTracks(const JoinedCollectives& joined, std::vector<bool> drawn, DerivedSink& sink)
      : joined_(joined), drawn_(std::move(drawn)), sink_(sink), of_(drawn_.size()) {}

  // `now_ns` ascends: what has ended by now is given.
  void until(ProcessId process, std::int64_t now_ns);
  // As Overlay::cut.
  void cut(std::int64_t at_ns);
  void finish();

 private:
  struct OfProcess {
    std::size_t next = 0;         // in JoinedCollectives::parts
    std::deque<JoinedPart> open;  // by start
  };
  void open(ProcessId process, std::int64_t before_ns);
  void give(ProcessId process, const JoinedPart& part, std::int64_t end_ns) const;

  const JoinedCollectives& joined_;
  std::vector<bool> drawn_;
  DerivedSink& sink_;
  std::vector<OfProcess> of_;
};

}  // namespace cli
