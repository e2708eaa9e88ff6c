#include "cli/answers/derived/collective_tracks.h"

#include <algorithm>
#include <limits>

namespace cli {

void CollectiveTracks::until(ProcessId process, std::int64_t now_ns) {
  if (!drawn_[process]) return;
  open(process, now_ns);
  auto& open = of_[process].open;
  for (; !open.empty() && open.front().end_ns <= now_ns; open.pop_front())
    give(process, open.front(), open.front().end_ns);
}

void CollectiveTracks::cut(std::int64_t at_ns) {
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

void CollectiveTracks::finish() {
  for (ProcessId process = 0; process < of_.size(); ++process) until(process, std::numeric_limits<std::int64_t>::max());
}

// Opens the parts that start before `before_ns`.
void CollectiveTracks::open(ProcessId process, std::int64_t before_ns) {
  OfProcess& of = of_[process];
  const auto& parts = joined_.parts[process];
  for (; of.next < parts.size() && parts[of.next].start_ns < before_ns; ++of.next) of.open.push_back(parts[of.next]);
}

void CollectiveTracks::give(ProcessId process, const JoinedPart& part, std::int64_t end_ns) const {
  DerivedFacts facts;
  facts.length_ns = part.length_ns;
  facts.collective = &joined_.collectives[part.collective];
  facts.part = part.part;
  sink_.derived({process, DerivedTrack::collectives, part.device, part.start_ns, end_ns - part.start_ns, 0, facts});
}

}  // namespace cli
