// Streams of events, each in the order of event_order.h, as one in that order. Events are decoded a few of each stream at a
// time, so that what is at hand stays in the caches of a core; and, where there is a core for it, by a thread of their own,
// ahead of who takes them.
//
// Memory: one piece (PieceSize) for each stream of the current group. In addition, 16,384 events are read ahead: 16 MiB, and one large event for
// each stream.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "cli/trace/payload.h"
#include "cli/formats/ttrace/merged_batch.h"

namespace cli {

// The amount of each stream that is decoded at once. It is smaller if thousands of streams are read together.
struct PieceSize {
  static constexpr std::size_t kMostEvents = 128, kFewestEvents = 16, kEventsAtHand = std::size_t{1} << 19;
  static constexpr std::size_t kMostText = std::size_t{64} << 10, kLeastText = std::size_t{2} << 10, kTextAtHand = std::size_t{64} << 20;

  explicit PieceSize(std::size_t streams)
      : events(std::bit_floor(std::clamp(kEventsAtHand / std::max<std::size_t>(streams, 1), kFewestEvents, kMostEvents))),  // as vectors grow
        text_bytes(std::clamp(kTextAtHand / std::max<std::size_t>(streams, 1), kLeastText, kMostText)) {}
  std::size_t events;
  std::size_t text_bytes;  // and one event more

  // The normal size of a batch. A batch that once held a rare large event is larger.
  std::size_t batch_bytes() const { return events * 512 + 2 * text_bytes; }
};

class PieceStream {
 public:
  virtual ~PieceStream() = default;
  // The next events in place of what `out` held, a piece at most. False: the end. Throws Error.
  virtual bool take(EventBatch& out, const PieceSize& most) = 0;
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
