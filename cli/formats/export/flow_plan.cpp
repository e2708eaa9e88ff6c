#include "cli/formats/export/flow_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "cli/formats/export/census.h"

namespace cli {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

bool starts(const Event& event) { return event.kind == Kind::flow ? event.phase == 's' : is_api_call(event.kind); }

FlowStart role(Kind kind) {
  if (kind == Kind::flow) return FlowStart::event;
  return kind == Kind::runtime ? FlowStart::runtime : FlowStart::driver;
}

}  // namespace

FlowPlan::FlowPlan(const Catalog& catalog)
    : catalog_(&catalog),
      reach_(catalog.tracks.size(), kNever),
      twins_(catalog.tracks.size(), kNoTrack),
      has_flows_(catalog.processes.size()) {
  find_twins();
}

void FlowPlan::find_twins() {
  std::map<std::tuple<ProcessId, std::int64_t, std::int64_t>, TrackId> by_ids;
  for (TrackId id = 0; id < twins_.size(); ++id) {
    const Track& t = catalog_->tracks[id];
    const auto [twin, first] = by_ids.try_emplace({t.process, t.group, t.id}, id);
    if (!first) {
      twins_[id] = twin->second;
      twins_[twin->second] = id;
    }
  }
}

TrackId FlowPlan::track_of(const Event& flow) const {
  if (reach_[flow.track] >= flow.start_ns) return flow.track;
  const TrackId twin = twins_[flow.track];
  return twin != kNoTrack && reach_[twin] >= flow.start_ns ? twin : kNoTrack;
}

// Correlations of process p are group p; the categories of flows follow behind the processes.
FlowTable::Group FlowPlan::group(const Event& event) {
  if (event.kind != Kind::flow) return process(event);
  const std::uint64_t key = std::uint64_t{process(event)} << 32 | category(event);
  const auto next = static_cast<FlowTable::Group>(catalog_->processes.size() + groups_.size());
  return groups_.try_emplace(key, next).first->second;
}

void FlowPlan::reach(const Event& slice) {
  std::int64_t& end = reach_[slice.track];
  end = std::max(end, slice_end(slice, std::numeric_limits<std::int64_t>::max()));
}

void FlowPlan::note(const Event& event) {
  if (starts(event)) {
    table_.note_start(group(event), event.correlation, role(event.kind));
  } else {
    table_.note_end(group(event), event.correlation);
  }
}

std::uint64_t FlowPlan::call_of_flow_end(const Event& event, const Facts& facts) const {
  if (!by_correlation(event)) return 0;
  if (is_gpu_work(event.kind)) return event.correlation;
  const auto* wait = event.kind == Kind::sync ? facts.get<SyncFacts>() : nullptr;
  return wait != nullptr && wait->producer_is_known ? wait->producer_correlation : 0;
}

void FlowPlan::prepare(const Event& event, const Facts& facts) {
  if (event.start_ns != now_ns_) end_instant();
  now_ns_ = event.start_ns;
  if (event.kind == Kind::flow) {
    has_flows_[process(event)] = has_any_flows_ = true;
    return hold(event);
  }
  if (!is_slice(event)) return;
  reach(event);
  if (by_correlation(event) && is_api_call(event.kind)) return note(event);
  if (const std::uint64_t call = call_of_flow_end(event, facts); call != 0) table_.note_end(process(event), call);
}

void FlowPlan::end_instant() {
  release([this](const Event& flow, TrackId track) {
    if (track != kNoTrack && !refused(flow, track)) note(flow);
  });
}

void FlowPlan::end_prepare() {
  end_instant();
  std::fill(reach_.begin(), reach_.end(), kNever);
}

std::uint64_t FlowPlan::start(const Event& event) {
  return table_.start(group(event), event.correlation, role(event.kind));
}

FlowTable::End FlowPlan::end(const Event& flow) { return table_.end(group(flow), flow.correlation); }

// So that an end never comes before a start of the same time.
void FlowPlan::starts_first() {
  std::stable_partition(held_.begin(), held_.end(), [](const Event& flow) { return flow.phase == 's'; });
}

}  // namespace cli
