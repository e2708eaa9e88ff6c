#include "cli/export/perfetto/arrows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "cli/export/census.h"

namespace cli::perfetto {
namespace {

constexpr int kEndShift = 44;  // an id is the arrow's, and above it which of its ends

ArrowStart role(Kind kind) { return kind == Kind::runtime ? ArrowStart::runtime : ArrowStart::driver; }

}  // namespace

Arrows::Arrows(const Catalog& catalog)
    : catalog_(&catalog),
      reach_(catalog.tracks.size(), std::numeric_limits<std::int64_t>::min()),
      twins_(catalog.tracks.size(), kNoTrack) {
  find_twins();
}

void Arrows::find_twins() {
  std::map<std::tuple<ProcessId, std::int64_t, std::int64_t>, TrackId> by_ids;
  for (TrackId id = 0; id < twins_.size(); ++id) {
    const Track& t = catalog_->tracks[id];
    const auto [twin, first] = by_ids.try_emplace({t.process, t.group, t.id}, id);
    if (!first) twins_[id] = twin->second, twins_[twin->second] = id;
  }
}

TrackId Arrows::track_of(const Event& flow) const {
  if (reach_[flow.track] >= flow.start_ns) return flow.track;
  const TrackId twin = twins_[flow.track];
  return twin != kNoTrack && reach_[twin] >= flow.start_ns ? twin : kNoTrack;
}

ArrowTable::Group Arrows::group(const Event& flow) {
  const std::uint64_t key = std::uint64_t{process(flow)} << 32 | flow.name;
  const auto next = static_cast<ArrowTable::Group>(catalog_->processes.size() + groups_.size());
  return groups_.try_emplace(key, next).first->second;
}

void Arrows::reach(const Event& event) {
  std::int64_t& end = reach_[event.track];
  end = std::max(end, slice_end(event, std::numeric_limits<std::int64_t>::max()));
}

void Arrows::prepare(const Event& event) {
  if (event.start_ns != now_ns_) note_flows();
  now_ns_ = event.start_ns;
  if (event.kind == Kind::flow) {
    has_flows_ = true;
    return held_.push_back(event);
  }
  if (!is_slice(event)) return;
  reach(event);
  if (!by_correlation(event)) return;
  if (is_api_call(event.kind)) table_.note_start(process(event), event.correlation, role(event.kind));
  if (is_gpu_work(event.kind)) table_.note_end(process(event), event.correlation);
}

// So that an end never comes before a start of the same time.
void Arrows::starts_first() {
  std::stable_partition(held_.begin(), held_.end(), [](const Event& flow) { return flow.phase == 's'; });
}

void Arrows::note_flows() {
  starts_first();
  for (const Event& flow : held_) {
    const TrackId track = track_of(flow);
    if (track == kNoTrack || (takes_ && !takes_(flow, track))) continue;
    if (flow.phase == 's') {
      table_.note_start(group(flow), flow.correlation, ArrowStart::flow);
    } else {
      table_.note_end(group(flow), flow.correlation);
    }
  }
  held_.clear();
}

void Arrows::end_prepare() {
  note_flows();
  std::fill(reach_.begin(), reach_.end(), std::numeric_limits<std::int64_t>::min());
}

void Arrows::slice(const Event& event, FlowIds& ids, ExportSummary& summary) {
  if (has_flows_) reach(event);
  if (!by_correlation(event)) return;
  if (is_api_call(event.kind)) {
    const std::uint64_t arrow = table_.start(process(event), event.correlation, role(event.kind));
    if (arrow != 0) begin(arrow, ids);
  } else if (is_gpu_work(event.kind)) {
    const ArrowTable::End found = table_.end(process(event), event.correlation);
    if (found.arrow == 0) return void(++summary.works_without_launch);
    end(found, ids, summary);
  }
}

void Arrows::draw(const Event& flow, TrackId track, FlowIds* ids, ExportSummary& summary) {
  if (track == kNoTrack || ids == nullptr) return void(++summary.unplaced_flows);
  if (flow.phase == 's') {
    const std::uint64_t arrow = table_.start(group(flow), flow.correlation, ArrowStart::flow);
    if (arrow == 0) return void(++summary.one_ended_flows);
    begin(arrow, *ids);
  } else {
    const ArrowTable::End found = table_.end(group(flow), flow.correlation);
    if (found.arrow == 0) return void(++summary.one_ended_flows);
    end(found, *ids, summary);
  }
  ++summary.flow_events_drawn;
}

void Arrows::begin(std::uint64_t arrow, FlowIds& ids) {
  const std::uint64_t ends = table_.ends(arrow);
  for (std::uint64_t i = 0; i < ends; ++i) ids.push_back(arrow | i << kEndShift);
}

void Arrows::end(const ArrowTable::End& end, FlowIds& ids, ExportSummary& summary) {
  const std::uint64_t which = table_.ends(end.arrow) > 1 ? drawn_[end.arrow]++ : 0;
  ids.push_back(end.arrow | which << kEndShift);
  ++summary.arrows_out;
  if (!end.started) ++summary.backward_arrows;
}

}  // namespace cli::perfetto
