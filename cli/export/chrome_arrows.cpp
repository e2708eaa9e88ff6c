#include "cli/export/chrome_arrows.h"

#include <algorithm>

namespace cli {
namespace {

constexpr std::size_t kSearched = 256;       // of the slices that start at one time, for the one that a flow belongs to
constexpr std::size_t kFarthest = 64 << 10;  // bytes that an arrow is moved across

}  // namespace

void ChromeArrows::slice(const Event& event, const Facts& facts, std::int64_t end_ns, const TrackLanes::Row& row,
                         ChromeText& text, ExportSummary& summary) {
  if (plan_.has_flows(plan_.process(event))) {
    plan_.reach(event);
    fresh_.push_back({event.correlation, &row, text.position(), end_ns, event.track});
  }
  if (!plan_.by_correlation(event)) return;
  if (is_api_call(event.kind)) {
    const std::uint64_t arrow = plan_.start(event);
    if (arrow != 0) begin_arrow(arrow, 0, row, event.start_ns, text, summary);
  } else if (const std::uint64_t call = plan_.ends_arrow_of(event, facts); call != 0) {
    const ArrowTable::End end = plan_.end(event, call);
    if (end.arrow == 0) summary.works_without_launch += is_gpu_work(event.kind);
    if (end.arrow != 0) end_arrow(end, {{&row, event.start_ns, end_ns, 0}, event.start_ns, 0, 'f'}, text, summary);
  }
}

void ChromeArrows::next_time(std::int64_t now_ns, ChromeText& text, Tracks& tracks, ExportSummary& summary) {
  plan_.release([&](const Event& flow, TrackId track) {
    if (track == ArrowPlan::kNoTrack) return void(++summary.unplaced_flows);
    draw_flow(flow, track, text, tracks, summary);
    if (text.full()) text.flush(), moved();
  });
  fresh_.clear();
  now_ns_ = now_ns;
}

void ChromeArrows::draw_flow(const Event& flow, TrackId track, ChromeText& text, Tracks& tracks,
                             ExportSummary& summary) {
  const Bound bound = bind(flow, track, tracks);
  const std::size_t since = text.position();
  if (flow.phase == 's') {
    const std::uint64_t arrow = plan_.start(flow);
    if (arrow == 0) return void(++summary.one_ended_flows);
    begin_arrow(arrow, ArrowPlan::category(flow), *bound.row, bound.drawn_ns(flow.start_ns), text, summary);
  } else {
    const ArrowTable::End end = plan_.end(flow);
    if (end.arrow == 0) return void(++summary.one_ended_flows);
    const char phase = flow.phase == 't' ? 't' : 'f';
    end_arrow(end, {bound, flow.start_ns, ArrowPlan::category(flow), phase}, text, summary);
  }
  ++summary.flow_events_drawn;
  move_behind(bound.fresh, since, text);
}

ChromeArrows::Bound ChromeArrows::bind(const Event& flow, TrackId track, Tracks& tracks) const {
  std::size_t found = fresh_.size();
  for (std::size_t i = fresh_.size(), searched = 0; i-- > 0 && searched < kSearched; ++searched) {
    if (fresh_[i].track != track) continue;
    const bool same_call = fresh_[i].correlation != 0 && fresh_[i].correlation == flow.correlation;
    if (same_call || found == fresh_.size()) found = i;
    if (same_call) break;
  }
  if (found < fresh_.size()) return {fresh_[found].row, now_ns_, fresh_[found].end_ns, found};
  const auto open = tracks[track]->covering(flow.start_ns);
  if (open) return {open->row, open->start_ns, open->end_ns, fresh_.size()};
  return {&tracks[track]->base(), flow.start_ns, flow.start_ns, fresh_.size()};
}

// What was written since `since` goes directly behind that slice.
void ChromeArrows::move_behind(std::size_t fresh, std::size_t since, ChromeText& text) {
  if (fresh == fresh_.size() || since - fresh_[fresh].position > kFarthest) return;
  const std::size_t length = text.position() - since;
  text.move_tail(since, fresh_[fresh].position);
  for (std::size_t i = fresh; i < fresh_.size(); ++i) fresh_[i].position += length;
}

void ChromeArrows::begin_arrow(std::uint64_t arrow, StringId kind, const TrackLanes::Row& row, std::int64_t ns,
                               ChromeText& text, ExportSummary& summary) {
  text.flow('s', arrow, category(kind), row.where, ns);
  if (early_.empty()) return;
  const auto early = early_.find(arrow);
  if (early == early_.end()) return;
  for (const End& end : early->second) {
    const std::int64_t later = std::max(ns, end.time_ns);
    const bool reaches = end.bound.end_ns > later || end.time_ns == later;
    const std::int64_t at = end.bound.drawn_ns(reaches ? later : end.time_ns);
    if (at < ns) ++summary.backward_arrows;
    text.flow(end.phase, arrow, category(end.category), end.bound.row->where, at);
    ++summary.arrows_out;
  }
  early_.erase(early);
}

// An end that comes before its start is drawn with it, at the start's time if its slice lasts until then.
void ChromeArrows::end_arrow(ArrowTable::End end, const End& drawn, ChromeText& text, ExportSummary& summary) {
  if (!end.started) return early_[end.arrow].push_back(drawn);
  text.flow(drawn.phase, end.arrow, category(drawn.category), drawn.bound.row->where,
            drawn.bound.drawn_ns(drawn.time_ns));
  ++summary.arrows_out;
}

}  // namespace cli
