// Sorts any number of events in bounded memory. The events of an input are sorted in parts. Each part becomes a run,
// which stays in memory if there is room and otherwise goes to a scratch file. A walk merges the runs.
//
// Memory: half of the limit is for parts that are being filled or written, half for runs that stay in memory. The size
// of a part depends on the number of inputs, not on how many are read in parallel, so the runs are always the same.
// Merging holds one block (sorted_run.h) of at most kFanIn runs in the scratch file; more runs are first merged into
// fewer.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/base/threads.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/sorted_run.h"
#include "cli/trace/clocks.h"
#include "cli/trace/payload.h"

namespace cli {

inline constexpr std::size_t kDefaultMemory = 256u << 20;
inline constexpr std::size_t kFanIn = 256;
inline constexpr std::size_t kMostSorters = 16;  // at once

// A run in memory or in the scratch file.
struct EventRun {
  struct Part {
    ttrace::EventBatch batch;
    std::vector<std::uint32_t> order;  // in the order of cli/formats/ttrace/walk.h
    std::size_t held_bytes() const { return batch.held_bytes() + order.capacity() * sizeof(order[0]); }
  };
  std::unique_ptr<Part> part;  // null if the run is in the scratch file
  ttrace::SortedRun scratch;
};

// Memory and the scratch file, shared by the sorters of all inputs. May be used by any thread.
class SortRoom {
 public:
  SortRoom(std::size_t memory_bytes, std::size_t inputs, std::string scratch_directory);

  std::size_t part_bytes() const { return part_bytes_; }
  // Returns an empty part. It reuses the memory of a released part, if any; otherwise it reserves the size of the last
  // part that was kept, because inputs of one run are similar and growing would move its content.
  std::unique_ptr<EventRun::Part> new_part();
  // Returns true if the part may stay in memory. It counts towards the limit until it is released.
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

// Sorts the events of one input.
class EventSorter : public EventSink {
 public:
  // If `beside`, a separate thread sorts and writes a part while the next one is filled.
  EventSorter(SortRoom& room, bool beside);
  ~EventSorter() override;

  void event(const Event& event, const Facts& facts) override;
  // Returns the runs in the order of their events' arrival. Called once, after the last event.
  std::vector<EventRun> finish();

 private:
  void hand_over();
  void make_run(std::unique_ptr<EventRun::Part> part);

  SortRoom& room_;
  std::unique_ptr<EventRun::Part> part_;
  std::vector<EventRun> runs_;
  std::optional<Background> background_;  // last member, because its thread uses the others
};

// Translates the ids of runs in memory to another catalogue. Ids of runs in the scratch file are translated while they
// are walked.
void translate_runs(std::vector<EventRun>& runs, const ttrace::IdMap& ids);

// Merges runs. Events that are equal in order are sorted by when their run was added.
class RunWalk {
 public:
  // `shapes` contains those of the events to walk; it has to be complete before the walk. Both arguments have to
  // outlive this.
  RunWalk(SortRoom& room, const Shapes& shapes);
  ~RunWalk();

  // `clock` is an index into the fits of walk(). `ids` translates the ids of runs in the scratch file and has to
  // outlive this; null if they stay the same.
  void add(std::vector<EventRun> runs, std::uint32_t clock, const ttrace::IdMap* ids);
  // Returns the runs, of which there may be fewer after a walk. Nothing is left to walk then.
  std::vector<EventRun> take();

  // Returns true if no run is in the scratch file. Several threads may walk at once then.
  bool in_memory() const;
  // Walks over all events in the order of cli/formats/ttrace/walk.h. May be repeated with the same fits.
  void walk(const std::vector<ClockFit>& fits, EventSink& sink);

 private:
  struct Source;
  class Cursor;
  using Sources = std::vector<Source>;
  std::vector<Cursor> cursors(const Source* begin, const Source* end, const std::vector<ClockFit>& fits,
                              ZstdDecompressor& zstd);
  const ttrace::ShapeTable& shape_table();
  bool merge_some(const std::vector<ClockFit>& fits);

  SortRoom& room_;
  const Shapes& shapes_;
  ttrace::ShapeTable shape_table_;  // for events whose ids stay; empty until they are walked
  Sources sources_;
};

}  // namespace cli
