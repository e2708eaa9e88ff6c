// What every form of flows has to know of the input, whatever it writes: which slices ask for a flow by their
// correlation, which slice's track a flow event is on, and which starts meet which ends (FlowTable).
//
// Flow events come apart from their slices: a form holds those of one instant until all its events are known, and binds
// each to the slice of its track that starts there (of several, to the one with its correlation), or else to the one that
// is open there.
//
// Memory: FlowTable; the flow events of one instant.
#pragma once
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cli/formats/export/flow_table.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli {

class FlowPlan {
 public:
  static constexpr TrackId kNoTrack = 0xffffffffu;

  explicit FlowPlan(const Catalog& catalog);
  // Flow events, with the track of their slice, that cannot be written there: asked in both passes, in the same order.
  void refuse_unless(std::function<bool(const Event& flow, TrackId track)> takes) { takes_ = std::move(takes); }
  bool refused(const Event& flow, TrackId track) const { return takes_ && !takes_(flow, track); }

  // The first pass: every event, then end_prepare().
  void prepare(const Event& event, const Facts& facts = {});
  void end_prepare();

  ProcessId process(const Event& event) const { return catalog_->tracks[event.track].process; }
  // A flow at this slice follows from its correlation.
  bool by_correlation(const Event& event) const {
    return event.correlation != 0 && !catalog_->processes[process(event)].explicit_flows;
  }
  // The correlation of the call whose flow ends at this slice: that of work of the GPU, for a wait that of the call
  // that recorded its CUDA event. 0: there is none.
  std::uint64_t call_of_flow_end(const Event& event, const Facts& facts) const;
  bool has_flows() const { return has_any_flows_; }
  bool has_flows(ProcessId process) const { return has_flows_[process]; }

  // The second pass. reach() for each slice of a process with flows, then the questions of FlowTable, for a slice that
  // is by_correlation() or for a flow event.
  void reach(const Event& slice);
  std::uint64_t start(const Event& event);
  FlowTable::End end(const Event& flow);
  FlowTable::End end(const Event& slice, std::uint64_t call) { return table_.end(process(slice), call); }
  std::uint64_t ends(std::uint64_t flow_id) const { return table_.ends(flow_id); }

  void hold(const Event& flow) { held_.push_back(flow); }
  // Each flow event that was held, starts first, with the track of the slice that it is on (kNoTrack: there is none).
  template <typename Draw>
  void release(Draw&& draw) {
    starts_first();
    for (const Event& flow : held_) draw(flow, track_of(flow));
    held_.clear();
  }
  // The kind of flow that a flow event says it is of.
  static StringId category(const Event& flow) { return flow.category != 0 ? flow.category : flow.name; }

 private:
  void find_twins();
  TrackId track_of(const Event& flow) const;
  void starts_first();
  void note(const Event& event);
  void end_instant();
  FlowTable::Group group(const Event& event);

  const Catalog* catalog_;
  std::function<bool(const Event&, TrackId)> takes_;
  FlowTable table_;
  std::unordered_map<std::uint64_t, FlowTable::Group> groups_;  // of flows, by process and category
  std::vector<std::int64_t> reach_;                              // per track: the latest end of a slice so far
  std::vector<TrackId> twins_;   // per track: the other one with the same ids, thread or stream (a flow event in
                                 // Kineto's files does not say which it means)
  std::vector<bool> has_flows_;  // per process
  std::vector<Event> held_;      // flow events of one instant
  std::int64_t now_ns_ = 0;
  bool has_any_flows_ = false;
};

}  // namespace cli
