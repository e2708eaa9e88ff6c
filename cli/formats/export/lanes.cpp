#include "cli/formats/export/lanes.h"

#include <algorithm>

#include "cli/formats/export/chrome_text.h"

namespace cli {

namespace {

template <typename Lane>
void expire(Lane& lane, std::int64_t start) {
  while (!lane.empty() && lane.back().end <= start) lane.pop_back();
}

}  // namespace

std::size_t Lanes::place(std::int64_t start, std::int64_t end) {
  const std::size_t scanned = std::min(lanes_.size(), kScanned);
  for (std::size_t i = 0; i < scanned; ++i) {
    expire(lanes_[i], start);
    if (!fits(lanes_[i], end)) continue;
    lanes_[i].push_back({start, end});
    return i;
  }
  if (scanned == kScanned) return place_in_crowd(start, end);
  lanes_.push_back({{start, end}});
  return scanned;
}

std::size_t Lanes::place_in_crowd(std::int64_t start, std::int64_t end) {
  expire_crowd(start);
  const std::size_t lane = choose_in_crowd(end);
  lanes_[lane].push_back({start, end});
  busy_.insert({end, lane});
  return lane;
}

void Lanes::expire_crowd(std::int64_t start) {
  while (!busy_.empty() && busy_.begin()->first <= start) {
    const std::size_t lane = busy_.begin()->second;
    busy_.erase(busy_.begin());
    expire(lanes_[lane], start);
    if (lanes_[lane].empty()) {
      idle_.insert(lane);
    } else {
      busy_.insert({lanes_[lane].back().end, lane});
    }
  }
}

// Takes the lane out of busy_ or idle_, or opens one.
std::size_t Lanes::choose_in_crowd(std::int64_t end) {
  const auto enclosing = rule_ == LaneRule::nest ? busy_.lower_bound({end, 0}) : busy_.end();
  if (enclosing != busy_.end()) {
    const std::size_t lane = enclosing->second;
    busy_.erase(enclosing);
    return lane;
  }
  if (idle_.empty()) {
    lanes_.emplace_back();
    return lanes_.size() - 1;
  }
  const std::size_t lane = *idle_.begin();
  idle_.erase(idle_.begin());
  return lane;
}

std::optional<Lanes::Slice> Lanes::covering(std::int64_t time) const {
  std::optional<Slice> best;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto inner = std::find_if(lanes_[i].rbegin(), lanes_[i].rend(), [&](const Open& o) { return o.end >= time; });
    if (inner == lanes_[i].rend()) continue;
    if (!best || inner->start > best->start) best = Slice{i, inner->start, inner->end};
  }
  return best;
}

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
