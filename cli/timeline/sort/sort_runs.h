// Sorts any number of events in bounded memory. The events of an input are sorted in parts, each of which becomes a run: it
// stays in memory while there is room, else it goes to a scratch file. Runs are merged when they are walked.
//
// Memory: half of what is given is for parts that are filled or on their way to the scratch file, half for those that stay.
// Where a part ends depends on the number of inputs, but not on how many are read side by side, so that the runs are always
// the same. Merging holds one block (sorted_run.h) of at most kFanIn runs in the scratch file; more are first merged into
// fewer.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/base/threads.h"
#include "cli/formats/ttrace/sorted_run.h"
#include "cli/trace/clocks.h"
#include "cli/trace/payload.h"
#include "cli/formats/ttrace/batch.h"

namespace cli {

inline constexpr std::size_t kDefaultMemory = 256u << 20;
inline constexpr std::size_t kFanIn = 256;
inline constexpr std::size_t kMostSorters = 16;  // at once

// In memory, or in the scratch file.
struct EventRun {
  struct Part {
    ttrace::EventBatch batch;
    std::vector<std::uint32_t> order;  // by cli/formats/ttrace/walk.h
    std::size_t held_bytes() const { return batch.held_bytes() + order.capacity() * sizeof(order[0]); }
  };
  std::unique_ptr<Part> part;  // null: in the scratch file
  ttrace::SortedRun scratch;
};

// What the sorters of all inputs share. Any thread.
class SortRoom {
 public:
  SortRoom(std::size_t memory_bytes, std::size_t inputs, std::string scratch_directory);

  std::size_t part_bytes() const { return part_bytes_; }
  // Empty; perhaps one that was released, with its memory; else with room for what the last one had that stayed, as inputs of one run
  // are alike, so that it does not have to be moved while it grows.
  std::unique_ptr<EventRun::Part> new_part();
  // Whether it may stay in memory; it is counted then, until it is released.
  bool keep(const EventRun::Part& part);
  void release(std::unique_ptr<EventRun::Part> part, bool was_kept);
  TempFile& scratch() { return scratch_; }

 private:
  const std::size_t part_bytes_, most_kept_bytes_;
  std::mutex mutex_;
  std::size_t kept_bytes_ = 0;
  ttrace::EventBatch::Room last_room_;
  std::vector<std::unique_ptr<EventRun::Part>> spare_;
  TempFile scratch_;
};

// The events of one input.
class EventSorter : public EventSink {
 public:
  // `beside`: parts are sorted and written by a thread of its own, beside the next one's filling.
  EventSorter(SortRoom& room, bool beside);
  ~EventSorter() override;

  void event(const Event& event, const Facts& facts) override;
  // After the last event, once: in the order in which they came.
  std::vector<EventRun> finish();

 private:
  void hand_over();
  void make_run(std::unique_ptr<EventRun::Part> part);

  SortRoom& room_;
  std::unique_ptr<EventRun::Part> part_;
  std::vector<EventRun> runs_;
  std::optional<Background> background_;  // last: what it does uses the rest
};

// Ids of runs in memory become those of another catalogue; of those in the scratch file this is done while they are walked.
void translate_runs(std::vector<EventRun>& runs, const ttrace::IdMap& ids);

// Merges runs. Of events that are equal in order those of the run come first that was added first.
class RunWalk {
 public:
  // `shapes`: of the events that it gives; complete when it walks. Both outlive it.
  RunWalk(SortRoom& room, const Shapes& shapes);
  ~RunWalk();

  // `clock`: an index into the fits of walk(). `ids`: what the ids of runs in the scratch file become; it outlives this.
  // Null: they stay.
  void add(std::vector<EventRun> runs, std::uint32_t clock, const ttrace::IdMap* ids);
  // The runs, of which there may be fewer after a walk; nothing is left to walk.
  std::vector<EventRun> take();

  // No run is in the scratch file. Then several threads may walk at once.
  bool in_memory() const;
  // All events, in the order of cli/formats/ttrace/walk.h. Any number of times, with the same fits.
  void walk(const std::vector<ClockFit>& fits, EventSink& sink);

 private:
  struct Source;
  class Cursor;
  using Sources = std::vector<Source>;
  std::vector<Cursor> cursors(const Source* begin, const Source* end, const std::vector<ClockFit>& fits, ZstdDecompressor& zstd);
  const ttrace::ShapeTable& shape_table();
  bool merge_some(const std::vector<ClockFit>& fits);

  SortRoom& room_;
  const Shapes& shapes_;
  ttrace::ShapeTable shape_table_;  // of events whose ids stay; empty until they are walked
  Sources sources_;
};

}  // namespace cli
