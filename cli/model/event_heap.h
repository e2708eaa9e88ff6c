// Merges sources of events, each in the order of event_key.h, into one stream of that order: a heap of their first
// events. A Cursor has next() (false: the end) and event().
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/model/event_key.h"

namespace cli {

template <typename Cursor>
class EventHeap {
 public:
  // Of events that are equal in order, those of the earlier source come first.
  explicit EventHeap(std::vector<Cursor> cursors) : cursors_(std::move(cursors)) {
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      if (cursors_[i].next()) heap_.push_back(key_of(cursors_[i].event(), static_cast<std::uint32_t>(i)));
    }
    for (std::size_t at = heap_.size(); at-- > 0;) sink(at);
  }

  bool next() {  // false: the end
    if (!std::exchange(started_, true)) return !heap_.empty();
    Cursor& cursor = cursors_[heap_[0].place];
    if (cursor.next()) {
      heap_[0] = key_of(cursor.event(), heap_[0].place);
    } else {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) sink(0);
    return !heap_.empty();
  }
  const Cursor& first() const { return cursors_[heap_[0].place]; }

 private:
  void sink(std::size_t at) {
    const EventKey key = heap_[at];
    for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < key)) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = key;
  }

  std::vector<Cursor> cursors_;
  std::vector<EventKey> heap_;  // place: the cursor
  bool started_ = false;
};

}  // namespace cli
