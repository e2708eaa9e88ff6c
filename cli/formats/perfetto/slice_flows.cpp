#include "cli/formats/perfetto/slice_flows.h"

namespace cli::perfetto {
namespace {

constexpr int kEndShift = 36;  // the index of the end is above the flow's number

}  // namespace

void SliceFlows::slice(const Event& event, const Facts& facts, FlowIds& ids, ExportSummary& summary) {
  if (plan_.has_flows()) plan_.reach(event);
  if (!plan_.by_correlation(event)) return;
  if (is_api_call(event.kind)) {
    const std::uint64_t flow_id = plan_.start(event);
    if (flow_id != 0) begin(event, flow_id, ids);
  } else if (const std::uint64_t call = plan_.call_of_flow_end(event, facts); call != 0) {
    const FlowTable::End found = plan_.end(event, call);
    if (found.flow_id == 0) {
      summary.works_without_launch += is_gpu_work(event.kind);
      return;
    }
    end(event, found, ids, summary);
  }
}

void SliceFlows::draw(const Event& flow, FlowIds* ids, ExportSummary& summary) {
  if (ids == nullptr) {
    ++summary.unplaced_flows;
    return;
  }
  if (flow.phase == 's') {
    const std::uint64_t flow_id = plan_.start(flow);
    if (flow_id == 0) {
      ++summary.one_ended_flows;
      return;
    }
    begin(flow, flow_id, *ids);
  } else {
    const FlowTable::End found = plan_.end(flow);
    if (found.flow_id == 0) {
      ++summary.one_ended_flows;
      return;
    }
    end(flow, found, *ids, summary);
  }
  ++summary.flow_events_drawn;
}

void SliceFlows::begin(const Event& event, std::uint64_t flow_id, FlowIds& ids) {
  const std::uint64_t ends = plan_.ends(flow_id);
  for (std::uint64_t i = 0; i < ends; ++i) ids.push_back(id(event, flow_id, i));
}

void SliceFlows::end(const Event& event, const FlowTable::End& end, FlowIds& ids, ExportSummary& summary) {
  const std::uint64_t which = plan_.ends(end.flow_id) > 1 ? drawn_[end.flow_id]++ : 0;
  ids.push_back(id(event, end.flow_id, which));
  ++summary.flows_out;
  if (!end.started) ++summary.backward_flows;
}

// Both endpoints of a flow are in one process. The numbers are small, because render stages store them as varints.
std::uint64_t SliceFlows::id(const Event& event, std::uint64_t flow_id, std::uint64_t which) const {
  const std::uint64_t in_file = flow_id | which << kEndShift;
  return processes_ == 0 ? in_file : in_file * processes_ + plan_.process(event);
}

}  // namespace cli::perfetto
