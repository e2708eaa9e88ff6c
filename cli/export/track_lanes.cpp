#include "cli/export/track_lanes.h"

#include <algorithm>

#include "cli/export/chrome_text.h"

namespace cli {
namespace {

constexpr std::size_t kRowsPerFamily = 1000;  // in the order of rows; more of them share the last place
constexpr std::array<const char*, 4> kSuffix{" annotations", "", " waits", " GPU work"};

}  // namespace

TrackLanes::TrackLanes(TrackKind kind, const TrackRow& track, ProcessRow& process)
    : kind_(kind), track_(&track), process_(&process) {
  for (Family& f : families_) f.lanes.emplace(LaneRule::nest);
  families_[kind == TrackKind::stream ? main : work].lanes.emplace(LaneRule::apart);
  open_row(main);
}

TrackLanes::FamilyId TrackLanes::family(Kind kind) const {
  if (kind_ != TrackKind::stream) return is_gpu_work(kind) ? work : main;
  if (kind == Kind::gpu_annotation) return annotations;
  return kind == Kind::sync || kind == Kind::cuda_event ? waits : main;
}

TrackLanes::Row& TrackLanes::place(const Event& event, std::int64_t end_ns) {
  const FamilyId id = family(event.kind);
  const std::size_t lane = families_[id].lanes->place(event.start_ns, end_ns);
  if (lane == families_[id].rows.size()) open_row(id);
  families_[id].rows[lane].top_ns = event.start_ns;
  return families_[id].rows[lane];
}

std::size_t TrackLanes::index_of(std::size_t order, FamilyId id) {
  return (order * family_count + id) * kRowsPerFamily;
}

std::size_t TrackLanes::index_beneath(std::size_t order) { return index_of(order, work); }

void TrackLanes::open_row(FamilyId id) {
  auto& rows = families_[id].rows;
  Row row;
  row.tid = id == main && rows.empty() ? track_->tid : process_->next_tid++;
  row.where = chrome_row(process_->pid, row.tid);
  row.name = track_->name + kSuffix[id];
  if (!rows.empty()) row.name += " (" + std::to_string(rows.size() + 1) + ')';
  row.sort_index = index_of(track_->order, id) + std::min(rows.size(), kRowsPerFamily - 1);
  rows.push_back(std::move(row));
}

std::optional<TrackLanes::Bound> TrackLanes::covering(std::int64_t time_ns) const {
  std::optional<Bound> best;
  for (const Family& f : families_) {
    const auto found = f.lanes->covering(time_ns);
    if (found && (!best || found->start >= best->start_ns)) {
      best = Bound{&f.rows[found->lane], found->start, found->end};
    }
  }
  return best;
}

}  // namespace cli
