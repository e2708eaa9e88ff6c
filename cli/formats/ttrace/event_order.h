// The order of a merged trace, and several sources of events as one in that order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cli/trace/event.h"

namespace cli {

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

}  // namespace cli
