// What every form of arrows has to know of the input, whatever it draws: which slices ask for an arrow by their
// correlation, which slice's track a flow event is on, and which starts meet which ends (ArrowTable).
//
// Flow events come apart from their slices: a form holds those of one instant until all its events are known, and binds
// each to the slice of its track that starts there (of several, to the one with its correlation), or else to the one that
// is open there.
//
// Memory: ArrowTable; the flow events of one instant.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cli/export/arrow_table.h"
#include "cli/model/catalog.h"
#include "cli/model/event.h"
#include "cli/model/payload.h"

namespace cli {

class ArrowPlan {
 public:
  static constexpr TrackId kNoTrack = 0xffffffffu;

  explicit ArrowPlan(const Catalog& catalog);
  // Flow events, with the track of their slice, that cannot be drawn there: asked in both passes, in the same order.
  void refuse_unless(std::function<bool(const Event& flow, TrackId track)> takes) { takes_ = std::move(takes); }
  bool refused(const Event& flow, TrackId track) const { return takes_ && !takes_(flow, track); }

  // The first pass: every event, then end_prepare().
  void prepare(const Event& event, const Facts& facts = {});
  void end_prepare();

  ProcessId process(const Event& event) const { return catalog_->tracks[event.track].process; }
  // An arrow at this slice follows from its correlation.
  bool by_correlation(const Event& event) const {
    return event.correlation != 0 && !catalog_->processes[process(event)].explicit_flows;
  }
  // The correlation of the call whose arrow ends at this slice: that of work of the GPU, for a wait that of the call
  // that recorded its CUDA event. 0: there is none.
  std::uint64_t ends_arrow_of(const Event& event, const Facts& facts) const;
  bool has_flows() const { return has_any_flows_; }
  bool has_flows(ProcessId process) const { return has_flows_[process]; }

  // The second pass. reach() for each slice of a process with flows, then the questions of ArrowTable, for a slice that
  // is by_correlation() or for a flow event.
  void reach(const Event& slice);
  std::uint64_t start(const Event& event);
  ArrowTable::End end(const Event& flow);
  ArrowTable::End end(const Event& slice, std::uint64_t call) { return table_.end(process(slice), call); }
  std::uint64_t ends(std::uint64_t arrow) const { return table_.ends(arrow); }

  void hold(const Event& flow) { held_.push_back(flow); }
  // Each flow event that was held, starts first, with the track of the slice that it is on (kNoTrack: there is none).
  template <typename Draw>
  void release(Draw&& draw) {
    starts_first();
    for (const Event& flow : held_) draw(flow, track_of(flow));
    held_.clear();
  }
  // The kind of arrow that a flow event says it is of.
  static StringId category(const Event& flow) { return flow.category != 0 ? flow.category : flow.name; }

 private:
  void find_twins();
  TrackId track_of(const Event& flow) const;
  void starts_first();
  void note(const Event& event);
  void end_instant();
  ArrowTable::Group group(const Event& event);

  const Catalog* catalog_;
  std::function<bool(const Event&, TrackId)> takes_;
  ArrowTable table_;
  std::unordered_map<std::uint64_t, ArrowTable::Group> groups_;  // of flows, by process and category
  std::vector<std::int64_t> reach_;                              // per track: the latest end of a slice so far
  std::vector<TrackId> twins_;   // per track: the other one with the same ids, thread or stream (a flow event in
                                 // Kineto's files does not say which it means)
  std::vector<bool> has_flows_;  // per process
  std::vector<Event> held_;      // flow events of one instant
  std::int64_t now_ns_ = 0;
  bool has_any_flows_ = false;
};

}  // namespace cli
