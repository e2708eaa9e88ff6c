// Computed tracks, cut to the time in which the chosen events of their process are: slices to what lies in it, counters
// to its beginning, with the value that they have there. Names and arguments keep the true lengths.
//
// Memory: one value for each counter.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "cli/answers/derived/collective_tracks.h"
#include "cli/answers/derived/overlay.h"
#include "cli/base/terminal.h"
#include "cli/show/export/write_file.h"
#include "cli/show/export/pieces.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/derived.h"

namespace cli {

class Clip : public DerivedSink {
 public:
  // Both outlive it. `window`: of each process.
  Clip(std::function<TimeWindow(ProcessId)> window, DerivedSink& sink) : window_(std::move(window)), sink_(sink) {}

  void derived(const Derived& derived) override;
  // Here the trace is split: values that wait for the window's beginning are given where that lies before.
  void cut(std::int64_t at_ns);
  void finish();  // counters that had their last value before

 private:
  using Key = std::tuple<ProcessId, DerivedTrack, std::int64_t>;
  void slice(const Derived& derived, TimeWindow window);
  void value(const Derived& derived, TimeWindow window);

  std::function<TimeWindow(ProcessId)> window_;
  DerivedSink& sink_;
  std::map<Key, Derived> before_;  // at the window's beginning
};

// The walk in which the events go to their exporters, and to the overlay whose tracks go with them.

// Which output of a layout (pieces.h) an event belongs to, while the trace is walked.
class Router {
 public:
  Router(const Catalog& catalog, const Layout& layout) : catalog_(catalog), layout_(layout) {}

  ProcessId process(const Event& event) const { return catalog_.tracks[event.track].process; }
  std::size_t output(ProcessId process) const { return by_process() ? layout_.piece_of[process] : now_; }
  bool by_process() const { return !layout_.piece_of.empty(); }

  // The border that lies between the outputs so far and `ns`, if there is one; cross() goes behind it.
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

  // Events that did not come because of the selection (ExportJob::wanted): they were left out, too.
  void not_read(const NotRead& events);

  // After that: finishes the pieces.
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
  LeftOutSummary left_out_;
};

}  // namespace cli
