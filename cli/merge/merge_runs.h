// Merges sorted runs into one stream: a heap of the runs' first events.
#pragma once
#include <vector>

#include "cli/merge/event_key.h"
#include "cli/merge/sorted_run.h"

namespace cli {

class RunMerger {
 public:
  // Of events that are equal in order, those of the earlier run come first.
  explicit RunMerger(std::vector<SortedRunCursor> cursors);

  bool next();  // false: the end
  const Event& event() const { return cursors_[heap_[0].place].event(); }
  Facts facts() const { return cursors_[heap_[0].place].facts(); }

 private:
  void sink(std::size_t at);

  ZstdDecompressor zstd_;
  std::vector<SortedRunCursor> cursors_;
  std::vector<EventKey> heap_;  // place: the run
  bool started_ = false;
};

}  // namespace cli
