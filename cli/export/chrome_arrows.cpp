#include "cli/export/chrome_arrows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "cli/export/census.h"

namespace cli {
namespace {

constexpr std::size_t kSearched = 256;       // of the slices that start at one time, for the one that a flow belongs to
constexpr std::size_t kFarthest = 64 << 10;  // bytes that an arrow is moved across

StringId category_of(const Event& flow) { return flow.category != 0 ? flow.category : flow.name; }
ArrowStart role(Kind kind) { return kind == Kind::runtime ? ArrowStart::runtime : ArrowStart::driver; }

}  // namespace

ChromeArrows::ChromeArrows(const Catalog& catalog)
    : catalog_(&catalog),
      reach_(catalog.tracks.size(), std::numeric_limits<std::int64_t>::min()),
      twins_(catalog.tracks.size(), kNoTrack),
      has_flows_(catalog.processes.size()) {
  find_twins();
}

void ChromeArrows::find_twins() {
  std::map<std::tuple<ProcessId, std::int64_t, std::int64_t>, TrackId> by_ids;
  for (TrackId id = 0; id < twins_.size(); ++id) {
    const Track& t = catalog_->tracks[id];
    const auto [twin, first] = by_ids.try_emplace({t.process, t.group, t.id}, id);
    if (!first) twins_[id] = twin->second, twins_[twin->second] = id;
  }
}

TrackId ChromeArrows::track_of(const Event& flow) const {
  if (reach_[flow.track] >= flow.start_ns) return flow.track;
  const TrackId twin = twins_[flow.track];
  return twin != kNoTrack && reach_[twin] >= flow.start_ns ? twin : kNoTrack;
}

bool ChromeArrows::explicit_flows(const Event& event) const {
  return catalog_->processes[process(event)].explicit_flows;
}

// Correlations of process p are group p; the categories of flows follow behind the processes.
ArrowTable::Group ChromeArrows::group(const Event& flow) {
  const std::uint64_t key = std::uint64_t{process(flow)} << 32 | category_of(flow);
  const auto next = static_cast<ArrowTable::Group>(catalog_->processes.size() + groups_.size());
  return groups_.try_emplace(key, next).first->second;
}

void ChromeArrows::reach(const Event& event) {
  std::int64_t& end = reach_[event.track];
  end = std::max(end, slice_end(event, std::numeric_limits<std::int64_t>::max()));
}

void ChromeArrows::prepare(const Event& event) {
  if (event.start_ns != now_ns_) note_flows();
  now_ns_ = event.start_ns;
  if (event.kind == Kind::flow) {
    has_flows_[process(event)] = true;
    return held_.push_back(event);
  }
  if (!is_slice(event)) return;
  reach(event);
  if (event.correlation == 0 || explicit_flows(event)) return;
  if (is_api_call(event.kind)) arrows_.note_start(process(event), event.correlation, role(event.kind));
  if (is_gpu_work(event.kind)) arrows_.note_end(process(event), event.correlation);
}

// So that an end never comes before a start of the same time.
void ChromeArrows::starts_first() {
  std::stable_partition(held_.begin(), held_.end(), [](const Event& flow) { return flow.phase == 's'; });
}

void ChromeArrows::note_flows() {
  starts_first();
  for (const Event& flow : held_) {
    if (track_of(flow) == kNoTrack) continue;
    if (flow.phase == 's') {
      arrows_.note_start(group(flow), flow.correlation, ArrowStart::flow);
    } else {
      arrows_.note_end(group(flow), flow.correlation);
    }
  }
  held_.clear();
}

void ChromeArrows::end_prepare() {
  note_flows();
  std::fill(reach_.begin(), reach_.end(), std::numeric_limits<std::int64_t>::min());
}

void ChromeArrows::slice(const Event& event, std::int64_t end_ns, const TrackLanes::Row& row, ChromeText& text,
                         ExportSummary& summary) {
  const ProcessId id = process(event);
  if (has_flows_[id]) {
    reach(event);
    fresh_.push_back({event.correlation, &row, text.position(), end_ns, event.track});
  }
  if (event.correlation == 0 || explicit_flows(event)) return;
  if (is_api_call(event.kind)) {
    const std::uint64_t arrow = arrows_.start(id, event.correlation, role(event.kind));
    if (arrow != 0) begin_arrow(arrow, 0, row, event.start_ns, text, summary);
  } else if (is_gpu_work(event.kind)) {
    const ArrowTable::End end = arrows_.end(id, event.correlation);
    if (end.arrow == 0) ++summary.works_without_launch;
    if (end.arrow != 0) end_arrow(end, {{&row, event.start_ns, end_ns, 0}, event.start_ns, 0, 'f'}, text, summary);
  }
}

void ChromeArrows::next_time(std::int64_t now_ns, ChromeText& text, Tracks& tracks, ExportSummary& summary) {
  starts_first();
  for (const Event& flow : held_) {
    draw_flow(flow, text, tracks, summary);
    if (text.full()) text.flush(), moved();
  }
  held_.clear();
  fresh_.clear();
  now_ns_ = now_ns;
}

void ChromeArrows::draw_flow(const Event& flow, ChromeText& text, Tracks& tracks, ExportSummary& summary) {
  const TrackId track = track_of(flow);
  if (track == kNoTrack) return void(++summary.unplaced_flows);
  const Bound bound = bind(flow, track, tracks);
  const std::size_t since = text.position();
  if (flow.phase == 's') {
    const std::uint64_t arrow = arrows_.start(group(flow), flow.correlation, ArrowStart::flow);
    if (arrow == 0) return void(++summary.one_ended_flows);
    begin_arrow(arrow, category_of(flow), *bound.row, bound.drawn_ns(flow.start_ns), text, summary);
  } else {
    const ArrowTable::End end = arrows_.end(group(flow), flow.correlation);
    if (end.arrow == 0) return void(++summary.one_ended_flows);
    const char phase = flow.phase == 't' ? 't' : 'f';
    end_arrow(end, {bound, flow.start_ns, category_of(flow), phase}, text, summary);
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
