#include "cli/formats/export/lanes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_set>

#include "cli/formats/export/chrome_text.h"
#include "cli/trace/losses.h"

namespace cli {

namespace {

constexpr std::int64_t kLargestRank = 999'999;
constexpr std::uint32_t kLargestRealTid = 1u << 22;  // PID_MAX_LIMIT of 64-bit Linux
constexpr std::int64_t kKinetoSyncTracks =
    1'000'000;  // Kineto's thread id for the synchronizations of stream n is n + this

std::string name_before_dot(const std::string& path) {
  const std::string file = path.substr(path.find_last_of('/') + 1);
  return file.substr(0, std::max<std::size_t>(file.find('.'), 1));
}

bool known_rank(const Process& p) { return p.rank >= 0 && p.rank <= kLargestRank; }

std::string process_name(const Process& p, bool shares_rank) {
  std::string name = known_rank(p) ? "rank " + std::to_string(p.rank) : name_before_dot(p.source);
  if (shares_rank && p.pid >= 0) name += " pid " + std::to_string(p.pid);
  if (!p.phase.empty()) name += ' ' + p.phase;
  if (!p.host.empty()) name += ' ' + p.host;
  return p.device_name.empty() ? name : name + (p.host.empty() ? ' ' : ':') + p.device_name;
}

template <typename Less>
std::vector<std::uint32_t> sorted_ids(std::size_t count, Less less) {
  std::vector<std::uint32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 0u);
  std::stable_sort(ids.begin(), ids.end(), less);
  return ids;
}

std::vector<std::uint32_t> by_rank(const Catalog& catalog) {
  const auto place = [&](std::uint32_t id) {
    const Process& p = catalog.processes[id];
    return std::tuple(!known_rank(p), known_rank(p) ? p.rank : 0, std::string_view(p.host), p.pid);
  };
  return sorted_ids(catalog.processes.size(), [&](auto a, auto b) { return place(a) < place(b); });
}

// Order: threads with the main one first, streams by device followed by their waits, then others.
auto track_place(const Catalog& catalog, const Track& t) {
  const bool main_thread = t.kind == TrackKind::thread && t.id == catalog.processes[t.process].pid;
  const std::int64_t group = t.kind == TrackKind::stream ? t.group : 0;
  const bool waits = t.kind == TrackKind::stream && t.id >= kKinetoSyncTracks && t.id < 2 * kKinetoSyncTracks;
  const std::int64_t number = waits ? t.id - kKinetoSyncTracks : t.id;
  return std::tuple(t.process, t.kind, group, !main_thread, number, t.id);
}

std::string stream_name(const Track& t, const Census::OfTrack& census, bool several_devices) {
  if (t.name.find_first_not_of(' ') != t.name.npos && t.name.substr(0, 7) != "stream ") {
    return "stream " + std::to_string(t.id) + " (" + t.name + ')';
  }
  std::string name = t.name.empty() ? "stream " + std::to_string(t.id) : t.name;
  name.erase(name.find_last_not_of(' ') + 1);
  if (several_devices) name = "GPU " + std::to_string(t.group) + ' ' + name;
  return census.nccl_kernels > 0 && census.nccl_kernels >= census.kernels ? name + " NCCL" : name;
}

std::string thread_name(const Track& t) {
  if (t.name.substr(0, 7) == "thread ") return t.name.substr(0, t.name.find_last_not_of(' ') + 1);
  const std::string number = "thread " + std::to_string(t.id);
  return t.name.empty() ? number : number + " (" + t.name + ')';
}

std::string other_name(const Track& t) {
  std::string name = t.group_name;
  if (!name.empty() && !t.name.empty()) name += ' ';
  name += t.name;
  return name.empty() ? "track " + std::to_string(t.id) : name;
}

std::vector<std::set<std::int64_t>> devices_of(const Catalog& catalog, const Census& census) {
  std::vector<std::set<std::int64_t>> devices(catalog.processes.size());
  for (std::size_t i = 0; i < catalog.tracks.size(); ++i) {
    const Track& t = catalog.tracks[i];
    if (census.tracks[i].seen && t.kind == TrackKind::stream) devices[t.process].insert(t.group);
  }
  return devices;
}

// If a thread id equals the process id, a viewer would take the track for the main thread.
bool keeps_id(const Track& t, const ProcessLayout& process, const std::unordered_set<std::int64_t>& used) {
  return t.kind != TrackKind::other && t.id > 0 && t.id <= kLargestRealTid && t.id != process.pid &&
         used.find(t.id) == used.end();
}

}  // namespace

std::vector<ProcessLayout> process_layouts(const Catalog& catalog, const Census& census) {
  std::vector<ProcessLayout> layouts(catalog.processes.size());
  std::int64_t taken_rank = -1, last_pid = 0;
  const std::vector<std::uint32_t> order = by_rank(catalog);
  for (const std::uint32_t id : order) {
    const Process& p = catalog.processes[id];
    layouts[id].name = process_name(p, known_rank(p) && p.rank == taken_rank);
    if (!known_rank(p) || p.rank == taken_rank) continue;
    taken_rank = p.rank;
    last_pid = p.rank + 1;
    layouts[id].pid = static_cast<std::uint32_t>(last_pid);
  }
  for (std::size_t place = 0; place < order.size(); ++place) {
    ProcessLayout& layout = layouts[order[place]];
    layout.order = place;
    if (layout.pid == 0) layout.pid = static_cast<std::uint32_t>(++last_pid);
    layout.shown = census.processes[order[place]].seen || lost_everything(catalog.processes[order[place]]);
  }
  return layouts;
}

std::vector<TrackLayout> track_layouts(const Catalog& catalog, const Census& census,
                                       std::vector<ProcessLayout>& processes) {
  std::vector<TrackLayout> layouts(catalog.tracks.size());
  const auto devices = devices_of(catalog, census);
  std::vector<std::unordered_set<std::int64_t>> used(catalog.processes.size());
  std::vector<std::size_t> next(catalog.processes.size(), 0);
  const auto order = sorted_ids(layouts.size(), [&](auto a, auto b) {
    return track_place(catalog, catalog.tracks[a]) < track_place(catalog, catalog.tracks[b]);
  });
  for (const std::uint32_t id : order) {
    const Track& t = catalog.tracks[id];
    if (!census.tracks[id].seen) continue;
    TrackLayout& layout = layouts[id];
    layout.shown = true;
    layout.order = next[t.process]++;
    layout.name = t.kind == TrackKind::thread   ? thread_name(t)
                  : t.kind == TrackKind::stream ? stream_name(t, census.tracks[id], devices[t.process].size() > 1)
                                                : other_name(t);
    const bool keep = keeps_id(t, processes[t.process], used[t.process]);
    layout.tid = keep ? static_cast<std::uint32_t>(t.id) : processes[t.process].next_tid++;
    if (keep) used[t.process].insert(t.id);
  }
  return layouts;
}

DisplayOrder display_order(const Catalog& catalog, const std::vector<ProcessLayout>& processes,
                           const std::vector<TrackLayout>& tracks) {
  DisplayOrder order{
      sorted_ids(processes.size(), [&](auto a, auto b) { return processes[a].order < processes[b].order; }),
      sorted_ids(tracks.size(), [&](auto a, auto b) {
        const auto place = [&](auto id) {
          return std::pair(processes[catalog.tracks[id].process].order, tracks[id].order);
        };
        return place(a) < place(b);
      })};
  const auto drop_hidden = [](auto& ids, const auto& layouts) {
    ids.erase(std::remove_if(ids.begin(), ids.end(), [&](auto id) { return !layouts[id].shown; }), ids.end());
  };
  drop_hidden(order.processes, processes);
  drop_hidden(order.tracks, tracks);
  return order;
}

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

// Removes the lane from busy_ or idle_, or adds a new one.
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
