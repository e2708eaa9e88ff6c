// Sorts any number of events in bounded memory: what does not fit is sorted in parts, which wait as runs in a scratch
// file and are merged at the end. Sorting and writing a part goes on beside reading the next one.
//
// Memory: a part is a quarter of `memory_bytes`, and three may exist at once (filled, waiting, being sorted); merging
// holds one block (sorted_run.h) of at most kFanIn runs. More runs are first merged into fewer.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/io/background.h"
#include "cli/merge/sorted_run.h"
#include "cli/model/catalog.h"
#include "cli/model/clock_fit.h"
#include "cli/model/payload.h"

namespace cli {

inline constexpr std::size_t kDefaultMemory = 256u << 20;
inline constexpr std::size_t kFanIn = 256;

class EventSorter : public EventSink {
 public:
  // The catalogue of the events, which outlives this.
  EventSorter(const Catalog& catalog, std::size_t memory_bytes, std::string scratch_folder);
  ~EventSorter() override;

  // What follows was timed by this clock, an index into the fits of drain(). A part holds the events of one clock, as
  // only those keep their order when the clocks are put on one axis.
  void begin_clock(std::uint32_t clock);
  void event(const Event& event, const Facts& facts) override;

  // All events, in the order of event_key.h; those that are equal in it in the order in which they came. After it no
  // event may come; it may be called again, with the same fits.
  void drain(const std::vector<ClockFit>& fits, EventSink& sink);

  std::uint64_t spilled_bytes() const { return scratch_.bytes(); }

 private:
  struct Part;
  void hand_over();
  void merge_some(const std::vector<ClockFit>& fits);
  struct RunCursor;
  std::vector<RunCursor> cursors(std::size_t count, const std::vector<ClockFit>& fits, ZstdDecompressor& zstd) const;
  void drain_memory(const std::vector<ClockFit>& fits, EventSink& sink);

  const Catalog& catalog_;
  ShapeTable shapes_;  // of the catalogue, once no event may come
  std::size_t part_bytes_;
  std::uint32_t clock_ = 0;
  TempFile scratch_;
  SortedRunWriter writer_;
  std::vector<SortedRun> runs_;  // in the order of their events' coming
  std::unique_ptr<Part> part_;
  Background background_;  // last: what it does uses the rest
};

}  // namespace cli
