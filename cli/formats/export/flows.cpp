#include "cli/formats/export/flows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "cli/formats/export/exporter.h"
#include "common/hash.h"

namespace cli {

bool FlowTable::begins_another(State seen, FlowStart role) {
  const bool started = (seen & (bit(kRuntime) | bit(kOtherStart))) != 0;
  switch (role) {
    case FlowStart::event:
      return started;
    case FlowStart::runtime:
      return (seen & bit(kRuntime)) != 0;
    default:
      return (seen & bit(kRuntime)) == 0 && started && (seen & bit(kEnded)) != 0;
  }
}

// `all` is the state from the first pass, and whether the flow's start is written.
bool FlowTable::begins_here(State all, FlowStart role) {
  if ((all & bit(kDrawn)) != 0 || (all & bit(kEnded)) == 0) return false;
  return role != FlowStart::driver || (all & bit(kRuntime)) == 0;
}

void FlowTable::note_start(Group group, std::uint64_t id, FlowStart role) {
  const Position at = position(group, id, kStart, true);
  State seen = state(at);
  if ((seen & bit(kReused)) != 0) seen = newest(at).state;
  if (begins_another(seen, role)) {
    if ((state(at) & bit(kReused)) == 0) reused_[at.key].flows.push_back({seen, 0});
    reuse(at).flows.push_back({bit(start_bit(role)), extra_++});
    set(at, kReused);
  } else if ((state(at) & bit(kReused)) != 0) {
    newest(at).state |= bit(start_bit(role));
  } else {
    set(at, start_bit(role));
  }
}

void FlowTable::note_end(Group group, std::uint64_t id) {
  const Position at = position(group, id, kEnd, true);
  if ((state(at) & bit(kReused)) != 0) {
    Reuse::Flow& flow = newest(at);
    const bool first = &flow == &reuse(at).flows.front();
    if ((flow.state & bit(kEnded)) != 0) note_another_end(first ? at.key : flow.extra, !first);
    flow.state |= bit(kEnded);
  } else {
    if ((state(at) & bit(kEnded)) != 0) note_another_end(at.key, false);
    set(at, kEnded);
  }
}

std::uint64_t FlowTable::ends(std::uint64_t flow_id) const {
  const std::uint64_t number = flow_id - 1, of_blocks = blocks_.size() * 64;
  const bool extra = number >= of_blocks;
  const auto more = more_ends_.find((extra ? number - of_blocks : number) << 1 | (extra ? 1u : 0u));
  return more == more_ends_.end() ? 1 : 1 + more->second;
}

std::uint64_t FlowTable::start(Group group, std::uint64_t id, FlowStart role) {
  const Position at = position(group, id, kStart, false);
  if (at.block == nullptr) return 0;
  const State all = state(at);
  if ((all & bit(kReused)) != 0) return start_reused(at, role);
  if (!begins_here(all, role)) return 0;
  set(at, kDrawn);
  return at.key + 1;
}

FlowTable::End FlowTable::end(Group group, std::uint64_t id) {
  const Position at = position(group, id, kEnd, false);
  if (at.block == nullptr) return {};
  const State all = state(at);
  if ((all & bit(kReused)) != 0) return end_reused(at);
  if ((all & (bit(kRuntime) | bit(kOtherStart))) == 0) return {};
  return {at.key + 1, (all & bit(kDrawn)) != 0};
}

std::uint64_t FlowTable::id_of(Position at, const Reuse& reuse) const {
  return reuse.current == 0 ? at.key + 1 : blocks_.size() * 64 + reuse.flows[reuse.current].extra + 1;
}

std::uint64_t FlowTable::start_reused(Position at, FlowStart role) {
  Reuse& r = reuse(at);
  if (begins_another(r.live, role)) {
    r.live = 0;
    ++r.current;
  }
  r.live |= bit(start_bit(role));
  State& all = r.flows[r.current].state;
  if (!begins_here(all, role)) return 0;
  all |= bit(kDrawn);
  return id_of(at, r);
}

FlowTable::End FlowTable::end_reused(Position at) {
  Reuse& r = reuse(at);
  r.live |= bit(kEnded);
  const State all = r.flows[r.current].state;
  return {id_of(at, r), (all & bit(kDrawn)) != 0};
}

FlowTable::Position FlowTable::look_up(Group group, std::uint64_t id, Side side, bool make) {
  if (make && blocks_.size() * 2 >= slots_.size()) grow_slots();
  if (slots_.empty()) return {};
  std::uint32_t& slot = slots_[find_slot(group, id / 64)];
  if (slot == 0) {
    if (!make) return {};
    blocks_.push_back({id / 64, group, {}});
    slot = static_cast<std::uint32_t>(blocks_.size());
  }
  if (group >= last_.size()) last_.resize(group + std::size_t{1});
  Last& last = last_[group][side];
  last = {&blocks_[slot - 1], slot - std::uint64_t{1}};
  return position(last, id);
}

std::size_t FlowTable::find_slot(Group group, std::uint64_t id_high) const {
  std::uint64_t hash = trace::spread(id_high ^ std::uint64_t{group} << 40);
  hash = trace::spread(hash ^ hash >> 29);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash >> 20) & mask;
  while (slots_[at] != 0) {
    const Block& block = blocks_[slots_[at] - 1];
    if (block.id_high == id_high && block.group == group) break;
    at = (at + 1) & mask;
  }
  return at;
}

void FlowTable::grow_slots() {
  slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, 0);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    slots_[find_slot(blocks_[i].group, blocks_[i].id_high)] = static_cast<std::uint32_t>(i + 1);
  }
}

void CollectiveFlows::join(const JoinedCollectives& joined) {
  joined_ = &joined;
  started_.assign(joined.collectives.size(), false);
  ends_.assign(joined.collectives.size(), 0);
  drawn_.assign(joined.collectives.size(), 0);
}

void CollectiveFlows::prepare(const Event& event) {
  if (!is_slice(event)) return;
  of_slice(event, [&](const JoinedCall& call) {
    if (call.is_last) {
      started_[call.collective] = true;
    } else if (runs_on(event, call)) {
      ++ends_[call.collective];
    }
  });
}

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

// Group p contains the correlations of process p. The categories of flows follow after the processes.
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

// Ensures that no end precedes a start at the same time.
void FlowPlan::starts_first() {
  std::stable_partition(held_.begin(), held_.end(), [](const Event& flow) { return flow.phase == 's'; });
}

}  // namespace cli
