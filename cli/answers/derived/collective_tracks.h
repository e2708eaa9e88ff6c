// Tracks of collectives: each rank has one track per communicator, below its GPU, with separate slices for waiting and
// transferring.
//
// The tracks belong to ranks because waits do. The alternative, one process for all ranks with a track per
// communicator, needs a lane per rank, because the waits of ranks overlap. With 1,024 ranks in groups of 8 it would
// have 128 tracks of equal name, and it would be lost if only a few ranks are chosen or each rank has its own file.
#pragma once
#include <algorithm>
#include <deque>
#include <limits>
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
  void until(ProcessId process, std::int64_t now_ns) {
    if (!drawn_[process]) return;
    open(process, now_ns);
    auto& open = of_[process].open;
    for (; !open.empty() && open.front().end_ns <= now_ns; open.pop_front())
      give(process, open.front(), open.front().end_ns);
  }
  // See Overlay::cut.
  void cut(std::int64_t at_ns) {
    for (ProcessId process = 0; process < of_.size(); ++process) {
      if (!drawn_[process]) continue;
      open(process, at_ns);
      auto& open = of_[process].open;
      for (JoinedPart& part : open) {
        const std::int64_t end_ns = std::min(part.end_ns, at_ns);
        give(process, part, end_ns);
        part.start_ns = end_ns;
      }
      std::erase_if(open, [&](const JoinedPart& part) { return part.end_ns <= at_ns; });
    }
  }
  void finish() {
    for (ProcessId process = 0; process < of_.size(); ++process)
      until(process, std::numeric_limits<std::int64_t>::max());
  }

 private:
  struct OfProcess {
    std::size_t next = 0;         // index in JoinedCollectives::parts
    std::deque<JoinedPart> open;  // sorted by start
  };
  // Opens the parts that start before `before_ns`.
  void open(ProcessId process, std::int64_t before_ns) {
    OfProcess& of = of_[process];
    const auto& parts = joined_.parts[process];
    for (; of.next < parts.size() && parts[of.next].start_ns < before_ns; ++of.next) of.open.push_back(parts[of.next]);
  }
  void give(ProcessId process, const JoinedPart& part, std::int64_t end_ns) const {
    DerivedFacts facts;
    facts.length_ns = part.length_ns;
    facts.collective = &joined_.collectives[part.collective];
    facts.part = part.part;
    sink_.derived({process, DerivedTrack::collectives, part.device, part.start_ns, end_ns - part.start_ns, 0, facts});
  }

  const JoinedCollectives& joined_;
  std::vector<bool> drawn_;
  DerivedSink& sink_;
  std::vector<OfProcess> of_;
};

}  // namespace cli
