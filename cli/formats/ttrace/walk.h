// Merges streams of events into one that is ordered by EventKey. A few events of each stream are decoded at a
// time, so that they stay in the caches of a core. If a core is free, a separate thread decodes them ahead of the
// consumer.
//
// Memory: one piece (PieceSize) for each stream of the current group. In addition, 16,384 events are read ahead: 16
// MiB, and one large event for each stream.
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

// The order of a merged trace, and merging of event sources in this order.

// The order of a merged trace: by start, then longer duration (a parent before its children; an event without an end is
// longest), then kind and track.
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

// Merges sources of events, each in this order, into one stream of the same order. A Cursor has next(), which returns
// false at the end, and event().
//
// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): with k sources each event costs log2 k
// comparisons on the path from its source to the root; a node stores the loser of its comparison. The next source is
// practically random, so branch prediction would fail for half of the comparisons. Therefore swap_if() uses no branch.
template <typename Cursor>
class EventHeap {
 public:
  // Events that are equal in order are sorted by source.
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

  bool next() {  // returns false at the end
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

  // Used while the tree is built. The source waits at the first empty node.
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
    if (a.start_ns == b.start_ns) [[unlikely]]
      return wins_at_once(a.source, b.source);
    return a.start_ns < b.start_ns;
  }
  [[gnu::noinline]] bool wins_at_once(std::uint64_t a, std::uint64_t b) const {
    if (ended_[a] || ended_[b]) return !ended_[a];
    return key(a) < key(b);
  }
  EventKey key(std::uint64_t source) const {
    return key_of(cursors_[source].event(), static_cast<std::uint32_t>(source));
  }
  static void swap_if(bool wanted, Contender& a, Contender& b) {
    const std::uint64_t mask = 0 - std::uint64_t{wanted};
    const std::uint64_t times =
        (static_cast<std::uint64_t>(a.start_ns) ^ static_cast<std::uint64_t>(b.start_ns)) & mask;
    const std::uint64_t sources = (a.source ^ b.source) & mask;
    a.start_ns ^= static_cast<std::int64_t>(times), b.start_ns ^= static_cast<std::int64_t>(times);
    a.source ^= sources, b.source ^= sources;
  }

  std::vector<Cursor> cursors_;
  std::vector<Contender> losers_;  // by node; [0] is unused
  std::vector<char> ended_;        // by source
  std::uint64_t first_ = 0;
  std::size_t alive_ = 0;
  bool started_ = false;
};

// The amount of each stream that is decoded at once. It is smaller if thousands of streams are read together.
struct PieceSize {
  static constexpr std::size_t kMostEvents = 128, kFewestEvents = 16, kEventsAtHand = std::size_t{1} << 19;
  static constexpr std::size_t kMostText = std::size_t{64} << 10, kLeastText = std::size_t{2} << 10,
                               kTextAtHand = std::size_t{64} << 20;

  explicit PieceSize(std::size_t streams)
      : events(std::bit_floor(std::clamp(kEventsAtHand / std::max<std::size_t>(streams, 1), kFewestEvents,
                                         kMostEvents))),  // as vectors grow
        text_bytes(std::clamp(kTextAtHand / std::max<std::size_t>(streams, 1), kLeastText, kMostText)) {}
  std::size_t events;
  std::size_t text_bytes;  // plus one event

  // The normal size of a batch. A batch that once contained a rare large event is larger.
  std::size_t batch_bytes() const { return events * 512 + 2 * text_bytes; }
};

class PieceStream {
 public:
  virtual ~PieceStream() = default;
  // Replaces the content of `out` with the next events, at most a piece. Returns false at the end. Throws Error.
  virtual bool take(EventBatch& out, const PieceSize& most) = 0;
};

struct StreamGroup {
  std::vector<std::unique_ptr<PieceStream>> streams;
  std::optional<ProcessId> process;  // set if the group has all its events: EventSink::end_of() follows the last one
};

// Merges the streams of one group after the other, each in order. Equal events are sorted by stream. A group is
// destroyed after its last event. If `ahead`, another thread uses the streams, if the system can create one. An
// exception of a stream is thrown after the events before it; an exception of the sink ends the walk.
void merge_streams(std::deque<StreamGroup> groups, EventSink& sink, bool ahead);

}  // namespace cli::ttrace
