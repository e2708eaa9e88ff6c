#include "cli/formats/chrome/flows.h"

#include <algorithm>

namespace cli::chrome {
namespace {

constexpr std::size_t kSearched = 256;       // limit of slices with equal start searched for that of a flow
constexpr std::size_t kFarthest = 64 << 10;  // maximum number of bytes across which a flow is moved

}  // namespace

void ChromeFlows::slice(const Event& event, const Facts& facts, std::int64_t end_ns, const TrackLanes::Lane& lane,
                        ChromeText& text, ExportSummary& summary) {
  if (plan_.has_flows(plan_.process(event))) {
    plan_.reach(event);
    fresh_.push_back({event.correlation, &lane, text.position(), end_ns, event.track});
  }
  if (!plan_.by_correlation(event)) return;
  if (is_api_call(event.kind)) {
    const std::uint64_t flow_id = plan_.start(event);
    if (flow_id != 0) begin_flow(flow_id, 0, lane, event.start_ns, text, summary);
  } else if (const std::uint64_t call = plan_.call_of_flow_end(event, facts); call != 0) {
    const FlowTable::End end = plan_.end(event, call);
    if (end.flow_id == 0) summary.works_without_launch += is_gpu_work(event.kind);
    if (end.flow_id != 0) end_flow(end, {{&lane, event.start_ns, end_ns, 0}, event.start_ns, 0, 'f'}, text, summary);
  }
}

void ChromeFlows::next_time(std::int64_t now_ns, ChromeText& text, Tracks& tracks, ExportSummary& summary) {
  plan_.release([&](const Event& flow, TrackId track) {
    if (track == FlowPlan::kNoTrack) {
      ++summary.unplaced_flows;
      return;
    }
    draw_flow(flow, track, text, tracks, summary);
    if (text.full()) {
      text.flush();
      moved();
    }
  });
  fresh_.clear();
  now_ns_ = now_ns;
}

void ChromeFlows::draw_flow(const Event& flow, TrackId track, ChromeText& text, Tracks& tracks,
                            ExportSummary& summary) {
  const Bound bound = bind(flow, track, tracks);
  const std::size_t since = text.position();
  if (flow.phase == 's') {
    const std::uint64_t flow_id = plan_.start(flow);
    if (flow_id == 0) {
      ++summary.one_ended_flows;
      return;
    }
    begin_flow(flow_id, FlowPlan::category(flow), *bound.lane, bound.drawn_ns(flow.start_ns), text, summary);
  } else {
    const FlowTable::End end = plan_.end(flow);
    if (end.flow_id == 0) {
      ++summary.one_ended_flows;
      return;
    }
    const char phase = flow.phase == 't' ? 't' : 'f';
    end_flow(end, {bound, flow.start_ns, FlowPlan::category(flow), phase}, text, summary);
  }
  ++summary.flow_events_drawn;
  move_behind(bound.fresh, since, text);
}

ChromeFlows::Bound ChromeFlows::bind(const Event& flow, TrackId track, Tracks& tracks) const {
  std::size_t found = fresh_.size();
  for (std::size_t i = fresh_.size(), searched = 0; i-- > 0 && searched < kSearched; ++searched) {
    if (fresh_[i].track != track) continue;
    const bool same_call = fresh_[i].correlation != 0 && fresh_[i].correlation == flow.correlation;
    if (same_call || found == fresh_.size()) found = i;
    if (same_call) break;
  }
  if (found < fresh_.size()) return {fresh_[found].lane, now_ns_, fresh_[found].end_ns, found};
  const auto open = tracks[track]->covering(flow.start_ns);
  if (open) return {open->lane, open->start_ns, open->end_ns, fresh_.size()};
  return {&tracks[track]->base(), flow.start_ns, flow.start_ns, fresh_.size()};
}

// Moves the text written since `since` directly after that slice.
void ChromeFlows::move_behind(std::size_t fresh, std::size_t since, ChromeText& text) {
  if (fresh == fresh_.size() || since - fresh_[fresh].position > kFarthest) return;
  const std::size_t length = text.position() - since;
  text.move_tail(since, fresh_[fresh].position);
  for (std::size_t i = fresh; i < fresh_.size(); ++i) fresh_[i].position += length;
}

void ChromeFlows::begin_flow(std::uint64_t flow_id, StringId kind, const TrackLanes::Lane& lane, std::int64_t ns,
                             ChromeText& text, ExportSummary& summary) {
  text.flow('s', flow_id, kind, lane.where, ns);
  if (early_.empty()) return;
  const auto early = early_.find(flow_id);
  if (early == early_.end()) return;
  for (const End& end : early->second) {
    const std::int64_t later = std::max(ns, end.time_ns);
    const bool reaches = end.bound.end_ns > later || end.time_ns == later;
    const std::int64_t at = end.bound.drawn_ns(reaches ? later : end.time_ns);
    if (at < ns) ++summary.backward_flows;
    text.flow(end.phase, flow_id, end.category, end.bound.lane->where, at);
    ++summary.flows_out;
  }
  early_.erase(early);
}

// An end that precedes its start is written together with it, at the start's time if its slice lasts until then.
void ChromeFlows::end_flow(FlowTable::End end, const End& drawn, ChromeText& text, ExportSummary& summary) {
  if (!end.started) return early_[end.flow_id].push_back(drawn);
  text.flow(drawn.phase, end.flow_id, drawn.category, drawn.bound.lane->where, drawn.bound.drawn_ns(drawn.time_ns));
  ++summary.flows_out;
}

}  // namespace cli::chrome
