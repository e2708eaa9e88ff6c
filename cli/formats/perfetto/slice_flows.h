// The flows of the native form: an id that the two slices of a flow carry. A viewer writes it from the one that
// starts first. Where a launch has several works (a graph) each has a flow, and an id, of its own.
//
// Which slices and flow events belong together is FlowPlan's.
//
// Memory: FlowPlan; a count for each flow with several ends.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cli/formats/export/flows.h"
#include "cli/formats/export/exporter.h"

namespace cli::perfetto {

using FlowIds = std::vector<std::uint64_t>;

class SliceFlows {
 public:
  explicit SliceFlows(const Catalog& catalog) : plan_(catalog) {}
  FlowPlan& plan() { return plan_; }

  // For render stages: Perfetto v58 joins a launch to the stages of its id in every file of a TAR (--manifest), so no
  // two of `processes` share an id, also when each is in a file of its own. Flows are joined within a file.
  void differ_by_process(std::size_t processes) { processes_ = processes; }

  // The second pass. Appends the ids of a slice's flows by correlation.
  void slice(const Event& event, const Facts& facts, FlowIds& ids, ExportSummary& summary);
  // Every flow event of the instant with the track of the slice that it is on: bind(flow, track) gives where that
  // slice's ids are kept, or null where there is none.
  template <typename Bind>
  void bind_flows(Bind&& bind, ExportSummary& summary) {
    plan_.release([&](const Event& flow, TrackId track) {
      const bool placed = track != FlowPlan::kNoTrack;
      if (placed && plan_.refused(flow, track)) {
        ++summary.undrawable_flows;
        return;
      }
      draw(flow, placed ? bind(flow, track) : nullptr, summary);
    });
  }

 private:
  void draw(const Event& flow, FlowIds* ids, ExportSummary& summary);
  // `event` is at the start, or the end, of the flow.
  void begin(const Event& event, std::uint64_t flow_id, FlowIds& ids);
  void end(const Event& event, const FlowTable::End& end, FlowIds& ids, ExportSummary& summary);
  std::uint64_t id(const Event& event, std::uint64_t flow_id, std::uint64_t which) const;

  FlowPlan plan_;
  std::uint64_t processes_ = 0;                             // 0: ids are unique within the file only
  std::unordered_map<std::uint64_t, std::uint64_t> drawn_;  // ends so far, of flows with several
};

}  // namespace cli::perfetto
