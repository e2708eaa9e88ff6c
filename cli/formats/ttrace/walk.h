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
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/formats/ttrace/batch.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli::ttrace {

// The order of a merged trace, and several sources of events as one in that order.

// The order of a merged trace: by start; of those that start together the longer first (a parent before its children;
// one without an end is longest), then by kind and track.
struct EventKey {
  std::int64_t start_ns;
  std::uint64_t shortness;  // kUnknownDuration becomes 0
  std::uint64_t kind_track;
  std::uint32_t place;  // breaks ties: input order

  friend bool operator<(const EventKey& a, const EventKey& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.shortness != b.shortness) return a.shortness < b.shortness;
    if (a.kind_track != b.kind_track) return a.kind_track < b.kind_track;
    return a.place < b.place;
  }
};

inline EventKey key_of(const Event& event, std::uint32_t place) {
  return {event.start_ns, ~static_cast<std::uint64_t>(event.duration_ns),
          static_cast<std::uint64_t>(event.kind) << 32 | event.track, place};
}

// Merges sources of events, each in this order, into one stream of that order. A Cursor has next() (false: the
// end) and event().
//
// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): of k sources each event costs log2 k comparisons, on
// the way from its source to the root; a node keeps who lost there. Whose event is next is as good as random, so a
// processor could guess half of the comparisons: what follows from them is computed without a branch.
template <typename Cursor>
class EventHeap {
 public:
  // Of events that are equal in order, those of the earlier source come first.
  explicit EventHeap(std::vector<Cursor> cursors)
      : cursors_(std::move(cursors)), losers_(cursors_.size()), ended_(cursors_.size()) {
    for (std::uint32_t source = 0; source < cursors_.size(); ++source) {
      if (cursors_[source].next()) {
        ++alive_;
      } else {
        ended_[source] = 1;
      }
      enter(source);
    }
  }

  bool next() {  // false: the end
    if (std::exchange(started_, true) && alive_ > 0) {
      if (!cursors_[first_].next()) {
        ended_[first_] = 1;
        --alive_;
      }
      replay(first_);
    }
    return alive_ > 0;
  }
  const Cursor& first() const { return cursors_[first_]; }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  // While the tree is built: waits at the first node that nobody has come to.
  void enter(std::uint64_t source) {
    Contender winner = contender(source);
    for (std::size_t node = (source + losers_.size()) / 2; node > 0; node /= 2) {
      if (losers_[node].source == kNobody) {
        losers_[node] = winner;
        return;
      }
      swap_if(wins(losers_[node], winner), losers_[node], winner);
    }
    first_ = winner.source;
  }
  void replay(std::uint64_t source) {
    Contender winner = contender(source);
    for (std::size_t node = (source + losers_.size()) / 2; node > 0; node /= 2) {
      swap_if(wins(losers_[node], winner), losers_[node], winner);
    }
    first_ = winner.source;
  }

  struct Contender {
    std::int64_t start_ns = 0;
    std::uint64_t source = kNobody;
  };
  Contender contender(std::uint64_t source) const {
    return {ended_[source] ? std::numeric_limits<std::int64_t>::max() : cursors_[source].event().start_ns, source};
  }
  bool wins(const Contender& a, const Contender& b) const {
    if (a.start_ns == b.start_ns) [[unlikely]] return wins_at_once(a.source, b.source);
    return a.start_ns < b.start_ns;
  }
  [[gnu::noinline]] bool wins_at_once(std::uint64_t a, std::uint64_t b) const {
    if (ended_[a] || ended_[b]) return !ended_[a];
    return key(a) < key(b);
  }
  EventKey key(std::uint64_t source) const { return key_of(cursors_[source].event(), static_cast<std::uint32_t>(source)); }
  static void swap_if(bool wanted, Contender& a, Contender& b) {
    const std::uint64_t mask = 0 - std::uint64_t{wanted};
    const std::uint64_t times = (static_cast<std::uint64_t>(a.start_ns) ^ static_cast<std::uint64_t>(b.start_ns)) & mask;
    const std::uint64_t sources = (a.source ^ b.source) & mask;
    a.start_ns ^= static_cast<std::int64_t>(times), b.start_ns ^= static_cast<std::int64_t>(times);
    a.source ^= sources, b.source ^= sources;
  }

  std::vector<Cursor> cursors_;
  std::vector<Contender> losers_;  // by node; [0] is not used
  std::vector<char> ended_;        // by source
  std::uint64_t first_ = 0;
  std::size_t alive_ = 0;
  bool started_ = false;
};

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

}  // namespace cli::ttrace
