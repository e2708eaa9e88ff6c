// Merges sources of events, each in the order of event_key.h, into one stream of that order. A Cursor has next() (false: the
// end) and event().
//
// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): of k sources each event costs log2 k comparisons, on
// the way from its source to the root; a node keeps who lost there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cli/model/event_key.h"

namespace cli {

template <typename Cursor>
class EventHeap {
 public:
  // Of events that are equal in order, those of the earlier source come first.
  explicit EventHeap(std::vector<Cursor> cursors)
      : cursors_(std::move(cursors)), keys_(cursors_.size()), losers_(cursors_.size(), kNobody) {
    for (std::uint32_t source = 0; source < cursors_.size(); ++source) advance(source), enter(source);
  }

  bool next() {  // false: the end
    if (std::exchange(started_, true) && alive_ > 0) {
      advance(first_);
      replay(first_);
    }
    return alive_ > 0;
  }
  const Cursor& first() const { return cursors_[first_]; }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffff;
  static constexpr EventKey kEnd{std::numeric_limits<std::int64_t>::max(), ~std::uint64_t{0}, ~std::uint64_t{0}, kNobody};

  void advance(std::uint32_t source) {
    const bool was_alive = keys_[source].place != kNobody && started_;
    const bool is_alive = cursors_[source].next();
    keys_[source] = is_alive ? key_of(cursors_[source].event(), source) : kEnd;
    alive_ += is_alive;
    alive_ -= was_alive;
  }
  // While the tree is built: waits at the first node that nobody has come to.
  void enter(std::uint32_t source) {
    for (std::size_t node = (source + losers_.size()) / 2; node > 0; node /= 2) {
      if (losers_[node] == kNobody) return void(losers_[node] = source);
      if (keys_[losers_[node]] < keys_[source]) std::swap(losers_[node], source);
    }
    first_ = source;
  }
  void replay(std::uint32_t winner) {
    for (std::size_t node = (winner + losers_.size()) / 2; node > 0; node /= 2) {
      const std::uint32_t other = losers_[node];
      const bool other_wins = keys_[other] < keys_[winner];
      losers_[node] = other_wins ? winner : other;
      winner = other_wins ? other : winner;
    }
    first_ = winner;
  }

  std::vector<Cursor> cursors_;
  std::vector<EventKey> keys_;         // place: the cursor; kEnd: it has ended
  std::vector<std::uint32_t> losers_;  // by node; [0] is not used
  std::uint32_t first_ = 0;
  std::size_t alive_ = 0;
  bool started_ = false;
};

}  // namespace cli
