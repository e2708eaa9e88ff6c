#include "cli/export/arrow_table.h"

namespace cli {

bool ArrowTable::begins_another(State seen, ArrowStart role) {
  const bool started = (seen & (bit(kRuntime) | bit(kOtherStart))) != 0;
  switch (role) {
    case ArrowStart::flow:
      return started;
    case ArrowStart::runtime:
      return (seen & bit(kRuntime)) != 0;
    default:
      return (seen & bit(kRuntime)) == 0 && started && (seen & bit(kEnded)) != 0;
  }
}

ArrowTable::State ArrowTable::start_bit(ArrowStart role) {
  return bit(role == ArrowStart::runtime ? kRuntime : kOtherStart);
}

// `all` is what the first pass saw of the arrow, and whether its start is drawn.
bool ArrowTable::begins_here(State all, ArrowStart role) {
  if ((all & bit(kDrawn)) != 0 || (all & bit(kEnded)) == 0) return false;
  return role != ArrowStart::driver || (all & bit(kRuntime)) == 0;
}

void ArrowTable::note_start(Group group, std::uint64_t id, ArrowStart role) {
  const Place at = place(group, id, true);
  State seen = state(at);
  if ((seen & bit(kReused)) != 0) seen = newest(at).state;
  if (begins_another(seen, role)) {
    if ((state(at) & bit(kReused)) == 0) reused_[key(at)].arrows.push_back({seen, 0});
    reuse(at).arrows.push_back({start_bit(role), extra_++});
    set(at, bit(kReused));
  } else if ((state(at) & bit(kReused)) != 0) {
    newest(at).state |= start_bit(role);
  } else {
    set(at, start_bit(role));
  }
}

void ArrowTable::note_end(Group group, std::uint64_t id) {
  const Place at = place(group, id, true);
  if ((state(at) & bit(kReused)) != 0) {
    Reuse::Arrow& arrow = newest(at);
    const bool first = &arrow == &reuse(at).arrows.front();
    if ((arrow.state & bit(kEnded)) != 0) note_another_end(first ? key(at) : arrow.extra, !first);
    arrow.state |= bit(kEnded);
  } else {
    if ((state(at) & bit(kEnded)) != 0) note_another_end(key(at), false);
    set(at, bit(kEnded));
  }
}

std::uint64_t ArrowTable::ends(std::uint64_t arrow) const {
  const std::uint64_t number = arrow - 1, of_runs = runs_.size() * 64;
  const bool extra = number >= of_runs;
  const auto more = more_ends_.find((extra ? number - of_runs : number) << 1 | (extra ? 1u : 0u));
  return more == more_ends_.end() ? 1 : 1 + more->second;
}

std::uint64_t ArrowTable::start(Group group, std::uint64_t id, ArrowStart role) {
  const Place at = place(group, id, false);
  if (at.run == runs_.size()) return 0;
  const State all = state(at);
  if ((all & bit(kReused)) != 0) return start_reused(at, role);
  if (!begins_here(all, role)) return 0;
  set(at, bit(kDrawn));
  return key(at) + 1;
}

ArrowTable::End ArrowTable::end(Group group, std::uint64_t id) {
  const Place at = place(group, id, false);
  if (at.run == runs_.size()) return {};
  const State all = state(at);
  if ((all & bit(kReused)) != 0) return end_reused(at);
  if ((all & (bit(kRuntime) | bit(kOtherStart))) == 0) return {};
  return {key(at) + 1, (all & bit(kDrawn)) != 0};
}

std::uint64_t ArrowTable::arrow_id(Place at, const Reuse& reuse) const {
  return reuse.current == 0 ? key(at) + 1 : runs_.size() * 64 + reuse.arrows[reuse.current].extra + 1;
}

std::uint64_t ArrowTable::start_reused(Place at, ArrowStart role) {
  Reuse& r = reuse(at);
  if (begins_another(r.live, role)) r.live = 0, ++r.current;
  r.live |= start_bit(role);
  State& all = r.arrows[r.current].state;
  if (!begins_here(all, role)) return 0;
  all |= bit(kDrawn);
  return arrow_id(at, r);
}

ArrowTable::End ArrowTable::end_reused(Place at) {
  Reuse& r = reuse(at);
  r.live |= bit(kEnded);
  const State all = r.arrows[r.current].state;
  return {arrow_id(at, r), (all & bit(kDrawn)) != 0};
}

ArrowTable::State ArrowTable::state(Place at) const {
  State result = 0;
  for (unsigned b = 0; b < kBits; ++b) result |= static_cast<State>((runs_[at.run].bits[b] >> at.shift & 1) << b);
  return result;
}

void ArrowTable::set(Place at, State bits) {
  for (unsigned b = 0; b < kBits; ++b) runs_[at.run].bits[b] |= std::uint64_t{bits >> b & 1u} << at.shift;
}

// With make == false, run == runs_.size() says that the id has no end at all.
ArrowTable::Place ArrowTable::place(Group group, std::uint64_t id, bool make) {
  const std::uint64_t high = id / 64;
  const auto shift = static_cast<unsigned>(id % 64);
  if (last_ < runs_.size() && runs_[last_].id_high == high && runs_[last_].group == group) return {last_, shift};
  if (make && runs_.size() * 2 >= slots_.size()) grow_slots();
  if (slots_.empty()) return {runs_.size(), shift};
  std::uint32_t& slot = slots_[find_slot(group, high)];
  if (slot == 0) {
    if (!make) return {runs_.size(), shift};
    runs_.push_back({high, group, {}});
    slot = static_cast<std::uint32_t>(runs_.size());
  }
  last_ = slot - 1;
  return {last_, shift};
}

std::size_t ArrowTable::find_slot(Group group, std::uint64_t id_high) const {
  std::uint64_t hash = (id_high ^ std::uint64_t{group} << 40) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9u;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash >> 20) & mask;
  while (slots_[at] != 0) {
    const Run& run = runs_[slots_[at] - 1];
    if (run.id_high == id_high && run.group == group) break;
    at = (at + 1) & mask;
  }
  return at;
}

void ArrowTable::grow_slots() {
  slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, 0);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    slots_[find_slot(runs_[i].group, runs_[i].id_high)] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace cli
