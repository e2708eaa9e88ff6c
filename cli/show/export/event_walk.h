// Clips derived tracks to the time range of their process's chosen events. Slices are cut to the range. Counters begin
// at its start with the value that they have there. Names and arguments keep the real lengths.
//
// Memory: one value per counter.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "cli/answers/derived/category_tracks.h"
#include "cli/answers/derived/collective_tracks.h"
#include "cli/answers/derived/overlay.h"
#include "cli/base/terminal.h"
#include "cli/show/export/pieces.h"
#include "cli/show/export/write_file.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/derived.h"

namespace cli {

class Clip : public DerivedSink {
 public:
  // Both must outlive this object. `window` returns the time range of a process.
  Clip(std::function<TimeWindow(ProcessId)> window, DerivedSink& sink) : window_(std::move(window)), sink_(sink) {}

  void derived(const Derived& derived) override;
  // The trace is split at `at_ns`: emits values that wait for the start of the range if it is earlier.
  void cut(std::int64_t at_ns);
  void finish();  // emits counters whose last value is before the range

 private:
  using Key = std::tuple<ProcessId, DerivedTrack, std::int64_t>;
  void slice(const Derived& derived, TimeWindow window);
  void value(const Derived& derived, TimeWindow window);

  std::function<TimeWindow(ProcessId)> window_;
  DerivedSink& sink_;
  std::map<Key, Derived> before_;  // at the start of the range
};

// The walk that passes events to their exporters and to the overlay, which adds derived tracks.

// Assigns events to the outputs of a layout (pieces.h) during the walk.
class Router {
 public:
  Router(const Catalog& catalog, const Layout& layout) : catalog_(catalog), layout_(layout) {}

  ProcessId process(const Event& event) const { return catalog_.tracks[event.track].process; }
  std::size_t output(ProcessId process) const { return by_process() ? layout_.piece_of[process] : now_; }
  bool by_process() const { return !layout_.piece_of.empty(); }

  // Returns the border between the outputs so far and `ns`; null if there is none. cross() moves past it.
  const std::int64_t* border(std::int64_t ns) const {
    return now_ < layout_.borders.size() && layout_.borders[now_] <= ns ? &layout_.borders[now_] : nullptr;
  }
  void cross() { ++now_; }

 private:
  const Catalog& catalog_;
  const Layout& layout_;
  std::size_t now_ = 0;
};

class EventWalk : public EventSink, public DerivedSink {
 public:
  // `plan` may be null.
  EventWalk(const ExportJob& job, Pieces& pieces, CutPlan* plan, Progress& progress);

  void event(const Event& event, const Facts& facts) override;
  void derived(const Derived& derived) override;

  // Adds events that were not read because of the selection (ExportJob::wanted). They count as excluded.
  void not_read(const NotRead& events);

  // Call it after not_read(). Finishes the outputs.
  LeftOutSummary finish();

 private:
  LeftOut judge(const Event& event);
  void cut(std::int64_t now_ns);

  const ExportJob& job_;
  Pieces& pieces_;
  CutPlan* plan_;
  Progress& progress_;
  Router router_;
  Clip clip_;
  std::optional<Overlay> overlay_;
  std::optional<CollectiveTracks> collectives_;
  std::optional<CategoryTracks> categories_;
  LeftOutSummary left_out_;
};

}  // namespace cli
