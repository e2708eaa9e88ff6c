#include "cli/merge/merge_runs.h"

#include <utility>

namespace cli {

RunMerger::RunMerger(std::vector<SortedRunCursor> cursors) : cursors_(std::move(cursors)) {
  for (std::size_t run = 0; run < cursors_.size(); ++run) {
    if (cursors_[run].next(zstd_)) heap_.push_back(key_of(cursors_[run].event(), static_cast<std::uint32_t>(run)));
  }
  for (std::size_t at = heap_.size(); at-- > 0;) sink(at);
}

bool RunMerger::next() {
  if (!std::exchange(started_, true)) return !heap_.empty();
  SortedRunCursor& cursor = cursors_[heap_[0].place];
  if (cursor.next(zstd_)) {
    heap_[0] = key_of(cursor.event(), heap_[0].place);
  } else {
    heap_[0] = heap_.back();
    heap_.pop_back();
  }
  if (!heap_.empty()) sink(0);
  return !heap_.empty();
}

void RunMerger::sink(std::size_t at) {
  const EventKey key = heap_[at];
  for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < key)) break;
    heap_[at] = heap_[child];
  }
  heap_[at] = key;
}

}  // namespace cli
