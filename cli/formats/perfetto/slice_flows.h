// Flows in Perfetto's native format: both slices of a flow have its id, and a viewer begins it at the slice that starts
// first. If a launch has several works (a graph), each has its own flow and id. FlowPlan assigns flow events to slices.
//
// Memory: FlowPlan; a count for each flow with several ends.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/formats/export/flows.h"

namespace cli::perfetto {

using FlowIds = std::vector<std::uint64_t>;

class SliceFlows {
 public:
  explicit SliceFlows(const Catalog& catalog) : plan_(catalog) {}
  FlowPlan& plan() { return plan_; }

  // For render stages. Perfetto v58 joins a launch to the stages with its id in all files of a TAR (--manifest), so ids
  // are made unique over `processes`, even if each is in a separate file. Flows are joined within a file.
  void differ_by_process(std::size_t processes) { processes_ = processes; }

  // Second pass. Appends the ids of a slice's flows by correlation.
  void slice(const Event& event, const Facts& facts, FlowIds& ids, ExportSummary& summary);
  // Handles every flow event of the instant. bind(flow, track) returns the list of ids of the slice on this track, or
  // null if there is none.
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
  // `event` is at the start or the end of the flow.
  void begin(const Event& event, std::uint64_t flow_id, FlowIds& ids);
  void end(const Event& event, const FlowTable::End& end, FlowIds& ids, ExportSummary& summary);
  std::uint64_t id(const Event& event, std::uint64_t flow_id, std::uint64_t which) const;

  FlowPlan plan_;
  std::uint64_t processes_ = 0;                             // 0 if ids are unique only within the file
  std::unordered_map<std::uint64_t, std::uint64_t> drawn_;  // ends so far, for flows with several ends
};

}  // namespace cli::perfetto
