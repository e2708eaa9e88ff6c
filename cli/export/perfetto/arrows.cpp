#include "cli/export/perfetto/arrows.h"

namespace cli::perfetto {
namespace {

constexpr int kEndShift = 36;  // above the arrow's number: which of its ends

}  // namespace

void Arrows::slice(const Event& event, const Facts& facts, FlowIds& ids, ExportSummary& summary) {
  if (plan_.has_flows()) plan_.reach(event);
  if (!plan_.by_correlation(event)) return;
  if (is_api_call(event.kind)) {
    const std::uint64_t arrow = plan_.start(event);
    if (arrow != 0) begin(event, arrow, ids);
  } else if (const std::uint64_t call = plan_.ends_arrow_of(event, facts); call != 0) {
    const ArrowTable::End found = plan_.end(event, call);
    if (found.arrow == 0) return void(summary.works_without_launch += is_gpu_work(event.kind));
    end(event, found, ids, summary);
  }
}

void Arrows::draw(const Event& flow, FlowIds* ids, ExportSummary& summary) {
  if (ids == nullptr) return void(++summary.unplaced_flows);
  if (flow.phase == 's') {
    const std::uint64_t arrow = plan_.start(flow);
    if (arrow == 0) return void(++summary.one_ended_flows);
    begin(flow, arrow, *ids);
  } else {
    const ArrowTable::End found = plan_.end(flow);
    if (found.arrow == 0) return void(++summary.one_ended_flows);
    end(flow, found, *ids, summary);
  }
  ++summary.flow_events_drawn;
}

void Arrows::begin(const Event& event, std::uint64_t arrow, FlowIds& ids) {
  const std::uint64_t ends = plan_.ends(arrow);
  for (std::uint64_t i = 0; i < ends; ++i) ids.push_back(id(event, arrow, i));
}

void Arrows::end(const Event& event, const ArrowTable::End& end, FlowIds& ids, ExportSummary& summary) {
  const std::uint64_t which = plan_.ends(end.arrow) > 1 ? drawn_[end.arrow]++ : 0;
  ids.push_back(id(event, end.arrow, which));
  ++summary.arrows_out;
  if (!end.started) ++summary.backward_arrows;
}

// Both ends of an arrow are in one process. Small numbers, for render stages have them as varints.
std::uint64_t Arrows::id(const Event& event, std::uint64_t arrow, std::uint64_t which) const {
  const std::uint64_t in_file = arrow | which << kEndShift;
  return processes_ == 0 ? in_file : in_file * processes_ + plan_.process(event);
}

}  // namespace cli::perfetto
