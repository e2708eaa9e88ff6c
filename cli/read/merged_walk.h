// Streams of events, each in the order of event_key.h, as one in that order. Events are decoded a few of each stream at a
// time, so that what is at hand stays in the caches of a core; and, where there is a core for it, by a thread of their own,
// ahead of who takes them.
//
// Memory: of the group at hand a few dozen or hundred events of each stream; ahead, 16,384 events more, of which few are large: 16 MiB and one such event
// of each stream.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "cli/model/payload.h"
#include "cli/read/merged_batch.h"

namespace cli {

inline constexpr std::size_t kPieceEvents = 128;                       // of a stream, decoded at once,
inline constexpr std::size_t kPieceTextBytes = std::size_t{64} << 10;  // or this much text and one event more

class PieceStream {
 public:
  virtual ~PieceStream() = default;
  // The next events in place of what `out` held, a piece at most. False: the end. Throws Error.
  virtual bool take(EventBatch& out) = 0;
};

struct StreamGroup {
  std::vector<std::unique_ptr<PieceStream>> streams;
  std::optional<ProcessId> process;  // set if the group has all its events: EventSink::end_of() follows the last one
};

// One group after the other, each in one order; those of earlier streams come first where events are equal in order. A group is
// gone when its last event was taken from it. `ahead`: the streams are used by another thread, where the system gives one.
// What a stream throws comes behind the events before it; what the sink throws ends the walk.
void merge_streams(std::deque<StreamGroup> groups, EventSink& sink, bool ahead);

}  // namespace cli
