// The arrows of the native form: an id that the two slices of an arrow carry. A viewer draws it from the one that
// starts first. Where a launch has several works (a graph) each has an arrow, and an id, of its own.
//
// Flow events of the input come apart from their slices. They are bound as in the Chrome form (chrome_arrows.h): to the
// slice of their track that starts at their time, of several to the one with their correlation, else to the one that is
// open there.
//
// Memory: ArrowTable; the flow events of one instant of time.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cli/export/arrow_table.h"
#include "cli/export/exporter.h"

namespace cli::perfetto {

using FlowIds = std::vector<std::uint64_t>;

class Arrows {
 public:
  explicit Arrows(const Catalog& catalog);
  // Flow events, with the track of their slice, that cannot be drawn there: asked in both passes, in the same order.
  void refuse_unless(std::function<bool(const Event& flow, TrackId track)> takes) { takes_ = std::move(takes); }

  // The first pass: every event, then end_prepare().
  void prepare(const Event& event);
  void end_prepare();
  // An arrow at this slice follows from its correlation.
  bool by_correlation(const Event& event) const {
    return event.correlation != 0 && !catalog_->processes[process(event)].explicit_flows;
  }
  // There are flow events: the slices of an instant have to wait for them.
  bool has_flows() const { return has_flows_; }

  // The second pass. Appends the ids of a slice's arrows by correlation.
  void slice(const Event& event, FlowIds& ids, ExportSummary& summary);
  void flow(const Event& flow) { held_.push_back(flow); }
  // Every flow event of the instant with the track of the slice that it is on: bind(flow, track) gives where that
  // slice's ids are kept, or null where there is none.
  template <typename Bind>
  void bind_flows(Bind&& bind, ExportSummary& summary) {
    starts_first();
    for (const Event& flow : held_) {
      const TrackId track = track_of(flow);
      if (track != kNoTrack && takes_ && !takes_(flow, track)) {
        ++summary.undrawable_flows;
        continue;
      }
      FlowIds* const ids = track == kNoTrack ? nullptr : bind(flow, track);
      draw(flow, track, ids, summary);
    }
    held_.clear();
  }

 private:
  static constexpr TrackId kNoTrack = 0xffffffffu;

  ProcessId process(const Event& event) const { return catalog_->tracks[event.track].process; }
  ArrowTable::Group group(const Event& flow);
  void find_twins();
  TrackId track_of(const Event& flow) const;
  void reach(const Event& event);
  void starts_first();
  void note_flows();
  void draw(const Event& flow, TrackId track, FlowIds* ids, ExportSummary& summary);
  void begin(std::uint64_t arrow, FlowIds& ids);
  void end(const ArrowTable::End& end, FlowIds& ids, ExportSummary& summary);

  const Catalog* catalog_;
  std::function<bool(const Event&, TrackId)> takes_;
  ArrowTable table_;
  std::unordered_map<std::uint64_t, ArrowTable::Group> groups_;  // of flows, by process and category
  std::vector<std::int64_t> reach_;                              // per track: the latest end of a slice so far
  std::vector<TrackId> twins_;  // per track: the other one with the same ids, which a flow event may mean as well
  std::vector<Event> held_;     // flow events of now_ns_
  std::unordered_map<std::uint64_t, std::uint64_t> drawn_;  // ends so far, of arrows with several
  std::int64_t now_ns_ = 0;
  bool has_flows_ = false;
};

}  // namespace cli::perfetto
