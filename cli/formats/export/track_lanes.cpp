#include "cli/formats/export/track_lanes.h"

#include <algorithm>

#include "cli/formats/export/chrome_text.h"

namespace cli {
namespace {

constexpr std::size_t kLanesPerFamily = 1000;  // sort indices of a family; further lanes share the last
constexpr std::array<const char*, 4> kSuffix{" annotations", "", " waits", " GPU work"};

}  // namespace

TrackLanes::TrackLanes(TrackKind kind, const TrackLayout& track, ProcessLayout& process)
    : kind_(kind), track_(&track), process_(&process) {
  for (Family& f : families_) f.lanes.emplace(LaneRule::nest);
  families_[kind == TrackKind::stream ? main : work].lanes.emplace(LaneRule::apart);
  open_lane(main);
}

TrackLanes::FamilyId TrackLanes::family(Kind kind) const {
  if (kind_ != TrackKind::stream) return is_gpu_work(kind) ? work : main;
  if (kind == Kind::gpu_annotation) return annotations;
  return kind == Kind::sync || kind == Kind::cuda_event ? waits : main;
}

TrackLanes::Lane& TrackLanes::place(const Event& event, std::int64_t end_ns) {
  const FamilyId id = family(event.kind);
  const std::size_t lane = families_[id].lanes->place(event.start_ns, end_ns);
  if (lane == families_[id].opened.size()) open_lane(id);
  families_[id].opened[lane]->top_ns = event.start_ns;
  return *families_[id].opened[lane];
}

std::size_t TrackLanes::index_of(std::size_t order, FamilyId id) {
  return (order * family_count + id) * kLanesPerFamily;
}

std::size_t TrackLanes::index_beneath(std::size_t order) { return index_of(order, work); }

void TrackLanes::open_lane(FamilyId id) {
  auto& opened = families_[id].opened;
  Lane lane;
  lane.tid = id == main && opened.empty() ? track_->tid : process_->next_tid++;
  lane.where = chrome_ids(process_->pid, lane.tid);
  lane.name = track_->name + kSuffix[id];
  if (!opened.empty()) lane.name += " (" + std::to_string(opened.size() + 1) + ')';
  lane.sort_index = index_of(track_->order, id) + std::min(opened.size(), kLanesPerFamily - 1);
  opened.push_back(std::make_unique<Lane>(std::move(lane)));
}

std::optional<TrackLanes::Bound> TrackLanes::covering(std::int64_t time_ns) const {
  std::optional<Bound> best;
  for (const Family& f : families_) {
    const auto found = f.lanes->covering(time_ns);
    if (found && (!best || found->start >= best->start_ns)) {
      best = Bound{f.opened[found->lane].get(), found->start, found->end};
    }
  }
  return best;
}

}  // namespace cli
