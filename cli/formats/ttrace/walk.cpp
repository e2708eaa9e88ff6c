#include "cli/formats/ttrace/walk.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace cli::ttrace {

namespace {

constexpr std::size_t kBlocks = 4;  // being filled, being taken, or waiting
constexpr std::size_t kEventsAtOnce = 4096;
constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20;  // plus one event

using Batch = std::unique_ptr<EventBatch>;

struct Block {
  struct Entry {
    const EventBatch* batch;  // null at the end of a process
    std::size_t index;        // or the process
  };
  std::vector<Entry> events;
  std::vector<Batch> used_up;  // not used by later blocks
  std::size_t used_bytes = 0;

  bool full() const { return events.size() >= kEventsAtOnce || used_bytes >= kBytesAtOnce; }
};

// The free batches of a walk, and the current block.
class Room {
 public:
  Batch take() {
    if (spare_.empty()) return std::make_unique<EventBatch>();
    Batch batch = std::move(spare_.back());
    spare_.pop_back();
    return batch;
  }
  // Its last event was passed on, or is in the block.
  void give_back(Batch batch) {
    block.used_bytes += batch->bytes();
    block.used_up.push_back(std::move(batch));
  }
  // The events of the block are no longer needed.
  void clear(Block& done) {
    for (Batch& batch : done.used_up) {
      if (batch->held_bytes() <= piece.batch_bytes()) spare_.push_back(std::move(batch));
    }
    done.events.clear();
    done.used_up.clear();
    done.used_bytes = 0;
  }

  Block block;
  PieceSize piece{1};  // for the current group

 private:
  std::vector<Batch> spare_;
};

struct Cursor {
  PieceStream* stream;
  Room* room;
  Batch batch;
  std::size_t at;

  bool next() {
    if (batch != nullptr && ++at < batch->size()) return true;
    if (batch != nullptr) room->give_back(std::move(batch));
    batch = room->take();
    at = 0;
    if (stream->take(*batch, room->piece)) return true;
    batch->clear();
    return false;
  }
  const Event& event() const { return batch->event(at); }
};

// Holds the batches during its lifetime.
class Walk {
 public:
  explicit Walk(std::deque<StreamGroup> groups) : groups_(std::move(groups)) {}

  // Advances to the first or next group. Returns false if there is none.
  bool next_group() {
    if (heap_) groups_.pop_front();
    heap_.reset();
    if (groups_.empty()) return false;
    std::vector<Cursor> cursors;
    const auto& streams = groups_.front().streams;
    cursors.reserve(streams.size());
    room.piece = PieceSize(streams.size());
    for (const auto& stream : streams) cursors.push_back({stream.get(), &room, nullptr, 0});
    heap_.emplace(std::move(cursors));
    return true;
  }
  // Advances to the next event of the group. Returns false at its end.
  bool next() { return heap_->next(); }
  std::optional<ProcessId> process() const { return groups_.front().process; }
  const Cursor& first() const { return heap_->first(); }

  Room room;

 private:
  std::deque<StreamGroup> groups_;  // the first is the current one
  std::optional<EventHeap<Cursor>> heap_;
};

void merge_here(Walk& walk, EventSink& sink) {
  while (walk.next_group()) {
    while (walk.next()) {
      if (!walk.room.block.used_up.empty()) walk.room.clear(walk.room.block);
      sink.event(walk.first().event(), walk.first().batch->facts(walk.first().at));
    }
    if (const auto process = walk.process()) sink.end_of(*process);
  }
}

// Passes full blocks to another thread and receives used ones back.
class Belt {
 public:
  // Returns false if the consumer has stopped.
  bool take_done(Block& block) { return take(done_, block, stopped_); }
  void put_full(Block block) { put(full_, std::move(block)); }
  void end(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    ended_ = true;
    changed_.notify_all();
  }

  // Returns false at the end. Rethrows exceptions of the walk.
  bool take_full(Block& block) {
    if (take(full_, block, ended_)) return true;
    if (failure_) std::rethrow_exception(failure_);
    return false;
  }
  void put_done(Block block) { put(done_, std::move(block)); }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    done_.clear();
    changed_.notify_all();
  }

 private:
  bool take(std::deque<Block>& from, Block& block, const bool& is_over) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !from.empty() || is_over; });
    if (from.empty()) return false;
    block = std::move(from.front());
    from.pop_front();
    return true;
  }
  void put(std::deque<Block>& to, Block block) {
    const std::lock_guard lock(mutex_);
    to.push_back(std::move(block));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> done_{kBlocks}, full_;
  std::exception_ptr failure_;
  bool ended_ = false, stopped_ = false;
};

void fill_blocks(Walk& walk, Belt& belt) {
  Block& block = walk.room.block;
  if (!belt.take_done(block)) return;
  std::exception_ptr failure;
  // Returns false if the consumer has stopped.
  const auto put = [&](Block::Entry entry) {
    block.events.push_back(entry);
    if (!block.full()) return true;
    belt.put_full(std::exchange(block, {}));
    if (!belt.take_done(block)) return false;
    walk.room.clear(block);
    return true;
  };
  try {
    while (walk.next_group()) {
      while (walk.next()) {
        if (!put({walk.first().batch.get(), walk.first().at})) return;
      }
      if (walk.process() && !put({nullptr, *walk.process()})) return;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  belt.put_full(std::move(block));
  belt.end(failure);
}

void merge_ahead(Walk& walk, EventSink& sink) {
  Belt belt;
  std::thread filler;
  try {
    filler = std::thread([&] { fill_blocks(walk, belt); });
  } catch (const std::system_error&) {  // process limit reached
    return merge_here(walk, sink);
  }
  struct Other {
    ~Other() {
      belt.stop();
      thread.join();
    }
    Belt& belt;
    std::thread thread;
  } other{belt, std::move(filler)};
  for (Block block; belt.take_full(block); belt.put_done(std::move(block))) {
    for (const auto& [batch, index] : block.events) {
      batch != nullptr ? sink.event(batch->event(index), batch->facts(index))
                       : sink.end_of(static_cast<ProcessId>(index));
    }
  }
}

}  // namespace

void merge_streams(std::deque<StreamGroup> groups, EventSink& sink, bool ahead) {
  Walk walk(std::move(groups));
  ahead ? merge_ahead(walk, sink) : merge_here(walk, sink);
}

}  // namespace cli::ttrace
