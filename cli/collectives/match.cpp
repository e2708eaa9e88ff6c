#include "cli/collectives/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "cli/collectives/align_lanes.h"
#include "cli/model/rank_list.h"

namespace cli {
namespace {

struct LaneRef {
  ProcessId process = 0;
  std::uint32_t lane = 0;
  std::int64_t shift = 0;  // of its positions to those of the family's first lane
};

// Lanes that may belong together.
struct FamilyKey {
  CommunicatorId communicator;
  bool point_to_point, counted, replay;
  std::int32_t source, destination;
  auto operator<=>(const FamilyKey&) const = default;
};

class Matcher {
 public:
  Matcher(const CollectiveCalls& calls, const Catalog& catalog) : calls_(calls), catalog_(catalog), unsure_(calls.processes.size()) {}

  MatchedCollectives take() {
    auto all = families();
    for (auto& [key, lanes] : all) {
      if (!key.counted) find_late(lanes);
    }
    for (auto& [key, lanes] : all) family(key, std::move(lanes));
    for (MatchedGroup& group : out_.groups) finish(group);
    for (MatchedCollective& collective : out_.collectives) collective.state = state_of(collective);
    note_left_out();
    return std::move(out_);
  }

 private:
  const CollectiveLane& lane(const LaneRef& ref) const { return calls_.processes[ref.process].lanes[ref.lane]; }
  const CommunicatorInfo& info(CommunicatorId id) const { return calls_.communicators[id]; }
  std::string rank_text(ProcessId id) const {
    const Process& process = catalog_.processes[id];
    return process.rank >= 0 ? fmt::format("rank {}", process.rank) : process.source;
  }
  bool same_clock(ProcessId a, ProcessId b) const {
    const Process &one = catalog_.processes[a], &other = catalog_.processes[b];
    if (!one.boot_id.empty() || !other.boot_id.empty()) return one.boot_id == other.boot_id;
    return !one.host.empty() && one.host == other.host;
  }

  std::map<FamilyKey, std::vector<LaneRef>> families() const {
    std::map<FamilyKey, std::vector<LaneRef>> found;
    for (ProcessId id = 0; id < calls_.processes.size(); ++id) {
      const auto& lanes = calls_.processes[id].lanes;
      for (std::uint32_t at = 0; at < lanes.size(); ++at) {
        const CollectiveLane& each = lanes[at];
        found[{each.communicator, each.point_to_point, each.numbering == Numbering::counted, each.replay, each.source, each.destination}]
            .push_back({id, at, 0});
      }
    }
    return found;
  }

  void refuse(const LaneRef& ref, std::string why) {
    out_.refusals.push_back({ref.process, lane(ref).communicator, lane(ref).calls.size(), std::move(why)});
  }

  void family(const FamilyKey& key, std::vector<LaneRef> lanes) {
    if (key.point_to_point && (key.source < 0 || key.destination < 0)) {
      for (const LaneRef& each : lanes) refuse(each, "of sends and receives it is not known between which ranks they are");
      return;
    }
    const bool is_named = !info(key.communicator).label.empty();
    if (!key.counted) {
      refuse_unsure(lanes);
      return put(is_named ? group_of(key.communicator) : new_group(key.communicator), key, lanes);
    }
    // Nothing can be said against one that stands alone.
    const bool alone = std::all_of(lanes.begin(), lanes.end(), [&](const LaneRef& each) { return each.process == lanes[0].process; });
    if (alone) {
      for (const LaneRef& each : lanes) put(is_named ? group_of(key.communicator) : new_group(key.communicator), key, {each});
      return;
    }
    cluster(key, std::move(lanes), is_named);
  }

  LaneRef longest(const std::vector<LaneRef>& lanes) const {
    return *std::max_element(lanes.begin(), lanes.end(), [&](const LaneRef& a, const LaneRef& b) { return lane(a).calls.size() < lane(b).calls.size(); });
  }

  // A rank that was recorded late may have counted from there: its numbers and another's are not those of the same calls.
  void find_late(std::vector<LaneRef>& lanes) {
    const LaneRef first = longest(lanes);
    for (LaneRef& each : lanes) {
      if (each.process == first.process) continue;
      const bool same = same_clock(first.process, each.process);
      const LaneFit as_numbered = fit_at(lane(first), lane(each), calls_.whats, same, 0);
      if (as_numbered.possible || as_numbered.pairs == 0) continue;
      const LaneFit fit = fit_lanes(lane(first), lane(each), calls_.whats, same);
      const bool is_late = fit.possible && fit.shift != 0;
      if (!is_late && (differs_in_kind(lane(first), lane(each)) || fits_in_part(first, each))) continue;
      if (!is_late) {
        unsure_[each.process] = true;
        continue;
      }
      each.shift = fit.shift;
      unsure_[first.process] = unsure_[each.process] = true;
      out_.notes.push_back(fmt::format("{} counted the collectives of {} from another one than {}: {} is added to its numbers",
                                       rank_text(each.process), label(lane(each).communicator), rank_text(first.process),
                                       fit.shift / lane(each).ordinal_step));
    }
  }

  // Ranks that do different things tell nothing of their numbers: that is what is to be shown.
  bool differs_in_kind(const CollectiveLane& a, const CollectiveLane& b) const {
    auto at = a.calls.begin();
    for (const CollectiveCall& call : b.calls) {
      while (at != a.calls.end() && at->position < call.position) ++at;
      if (at == a.calls.end()) return false;
      if (at->position == call.position && !can_be_same(calls_.whats[at->what], calls_.whats[call.what])) return true;
    }
    return false;
  }

  // Times before or after the middle agree: a clock was set. The numbers are right.
  bool fits_in_part(const LaneRef& first, const LaneRef& each) const {
    CollectiveLane part = lane(each);
    const auto middle = part.calls.begin() + static_cast<std::ptrdiff_t>(part.calls.size() / 2);
    const std::vector<CollectiveCall> later(middle, part.calls.end());
    part.calls.erase(middle, part.calls.end());
    const bool same = same_clock(first.process, each.process);
    const auto fits = [&] {
      const LaneFit fit = fit_at(lane(first), part, calls_.whats, same, 0);
      return fit.possible || fit.pairs == 0;
    };
    if (fits()) return true;
    part.calls = later;
    return fits();
  }

  // Numbers of such ranks are believed where times say the same.
  void refuse_unsure(std::vector<LaneRef>& lanes) {
    const LaneRef first = longest(lanes);
    std::erase_if(lanes, [&](const LaneRef& each) {
      if (each.process == first.process || !(unsure_[first.process] || unsure_[each.process])) return false;
      if (proves(fit_at(lane(first), lane(each), calls_.whats, same_clock(first.process, each.process), each.shift))) return false;
      refuse(each, fmt::format("numbers of {} and {} do not begin at the same call elsewhere, and here nothing proves that they do", rank_text(each.process),
                               rank_text(first.process)));
      return true;
    });
  }

  std::string label(CommunicatorId id) const { return info(id).label.empty() ? "an unknown communicator" : "communicator " + info(id).label; }

  // The longest lane takes all that fit it, one of each process; then the longest of the rest.
  void cluster(const FamilyKey& key, std::vector<LaneRef> lanes, bool is_named) {
    std::stable_sort(lanes.begin(), lanes.end(), [&](const LaneRef& a, const LaneRef& b) { return lane(a).calls.size() > lane(b).calls.size(); });
    std::map<std::pair<ProcessId, std::uint32_t>, std::string> why;
    while (!lanes.empty()) {
      std::vector<LaneRef> together{lanes.front()};
      std::map<ProcessId, std::pair<double, LaneRef>> best;
      for (std::size_t i = 1; i < lanes.size(); ++i) {
        LaneRef each = lanes[i];
        if (each.process == together[0].process) continue;
        const LaneFit fit = fit_lanes(lane(together[0]), lane(each), calls_.whats, same_clock(together[0].process, each.process));
        if (!fit.possible) {
          const std::string reason = fmt::format("with {}: {}", rank_text(together[0].process), fit.why);
          why.try_emplace({each.process, each.lane}, reason);
          why.try_emplace({together[0].process, together[0].lane}, fmt::format("with {}: {}", rank_text(each.process), fit.why));
          continue;
        }
        each.shift = fit.shift;
        const auto [known, is_new] = best.try_emplace(each.process, fit.mad_ns, each);
        if (!is_new && fit.mad_ns < known->second.first) known->second = {fit.mad_ns, each};
      }
      for (const auto& [process, found] : best) together.push_back(found.second);
      if (together.size() > 1) {
        put(is_named ? group_of(key.communicator) : new_group(key.communicator), key, together);
      } else {
        const auto known = why.find({together[0].process, together[0].lane});
        refuse(together[0], known != why.end() ? known->second : "no other rank has anything like it");
      }
      std::erase_if(lanes, [&](const LaneRef& each) {
        return std::any_of(together.begin(), together.end(), [&](const LaneRef& other) { return other.process == each.process && other.lane == each.lane; });
      });
    }
  }

  std::uint32_t new_group(CommunicatorId communicator) {
    out_.groups.push_back({communicator, {}, info(communicator).size, info(communicator).size > 0});
    return static_cast<std::uint32_t>(out_.groups.size() - 1);
  }
  std::uint32_t group_of(CommunicatorId communicator) {
    const auto [known, is_new] = groups_.try_emplace(communicator, 0);
    if (is_new) known->second = new_group(communicator);
    return known->second;
  }

  void put(std::uint32_t group, const FamilyKey& key, const std::vector<LaneRef>& lanes) {
    struct At {
      std::int64_t position;
      std::uint32_t order;
      MatchedCall call;
    };
    std::vector<At> all;
    std::int64_t step = 1;
    for (std::uint32_t order = 0; order < lanes.size(); ++order) {
      const LaneRef& ref = lanes[order];
      const auto& some = lane(ref).calls;
      step = std::max(step, lane(ref).ordinal_step);
      for (std::uint32_t i = 0; i < some.size(); ++i) all.push_back({some[i].position + ref.shift, order, {ref.process, ref.lane, i}});
      auto& members = out_.groups[group].members;
      if (std::find(members.begin(), members.end(), ref.process) == members.end()) members.push_back(ref.process);
    }
    std::sort(all.begin(), all.end(), [](const At& a, const At& b) {
      return std::tie(a.position, a.call.process, a.order, a.call.call) < std::tie(b.position, b.call.process, b.order, b.call.call);
    });
    const std::int64_t first = all.empty() || !key.counted ? 0 : all.front().position;
    for (std::size_t at = 0; at < all.size();) {
      MatchedCollective collective;
      collective.group = group, collective.point_to_point = key.point_to_point, collective.counted = key.counted;
      collective.ordinal = (all[at].position - first) / step;
      collective.first_call = static_cast<std::uint32_t>(out_.calls.size());
      const std::int64_t position = all[at].position;
      for (; at < all.size() && all[at].position == position; ++at) out_.calls.push_back(all[at].call);
      collective.calls = static_cast<std::uint32_t>(out_.calls.size()) - collective.first_call;
      collective.what = what_of_most(collective);
      out_.collectives.push_back(collective);
    }
  }

  // The one that most ranks agree with; of several, the one that says most.
  WhatId what_of_most(const MatchedCollective& collective) const {
    std::map<WhatId, std::size_t> count;
    for (const MatchedCall& each : out_.calls_of(collective)) ++count[call_of(calls_, each).what];
    const auto known = [&](WhatId id) {
      const CollectiveWhat& what = calls_.whats[id];
      return (what.operation != Operation::unknown) + (what.operation != Operation::receive) + (what.message_bytes >= 0) + (what.buffer_bytes >= 0);
    };
    const auto agreeing = [&](WhatId id) {
      std::size_t agree = 0;
      for (const auto& [other, times] : count) agree += can_be_same(calls_.whats[id], calls_.whats[other]) ? times : 0;
      return agree;
    };
    return std::max_element(count.begin(), count.end(), [&](const auto& a, const auto& b) {
      return std::pair(agreeing(a.first), known(a.first)) < std::pair(agreeing(b.first), known(b.first));
    })->first;
  }

  void finish(MatchedGroup& group) const {
    std::sort(group.members.begin(), group.members.end());
    const bool alone = group.members.size() == 1 && catalog_.processes[group.members[0]].world_size != 1;
    if (!group.size_is_told) group.size = alone ? -1 : static_cast<std::int64_t>(group.members.size());
  }

  CollectiveState state_of(const MatchedCollective& collective) const {
    bool is_open = false;
    for (const MatchedCall& each : out_.calls_of(collective)) {
      if (!can_be_same(calls_.whats[collective.what], calls_.whats[call_of(calls_, each).what])) return CollectiveState::mismatch;
      is_open = is_open || is_open_call(each);
    }
    if (is_open) return CollectiveState::open;
    const std::int64_t expected = ranks_of(out_, collective);
    return expected < 0 || collective.calls < expected ? CollectiveState::missing_ranks : CollectiveState::complete;
  }

  // Begun and not ended, as far as the recording goes.
  bool is_open_call(const MatchedCall& which) const {
    const CollectiveCall& call = call_of(calls_, which);
    if (call.gpu_start_ns != kNoTime) return call.gpu_end_ns == kNoTime;
    if (call.host_start_ns == kNoTime) return false;
    if (call.host_end_ns == kNoTime) return true;
    if (catalog_.processes[which.process].state == RecordingState::clean) return false;
    const auto& all = calls_.processes[which.process].lanes[which.lane].calls;
    return std::all_of(all.begin() + which.call, all.end(), [](const CollectiveCall& later) { return later.gpu_start_ns == kNoTime; });
  }

  void note_left_out() {
    for (ProcessId id = 0; id < calls_.processes.size(); ++id) {
      const std::uint64_t works = calls_.processes[id].works_without_call;
      if (works > 0) out_.notes.push_back(fmt::format("{}: of {} kernels and copies of NCCL it is not known which call they are of", rank_text(id), works));
    }
  }

  const CollectiveCalls& calls_;
  const Catalog& catalog_;
  MatchedCollectives out_;
  std::map<CommunicatorId, std::uint32_t> groups_;  // of named ones
  std::vector<bool> unsure_;  // by ProcessId: its numbers may not be those of others
};

constexpr std::array<std::string_view, 4> kStates{"complete", "missing_ranks", "mismatch", "open"};

std::string ranks_text(const Catalog& catalog, const std::vector<ProcessId>& processes) {
  std::vector<std::int64_t> ranks;
  for (const ProcessId id : processes) ranks.push_back(catalog.processes[id].rank);
  return rank_list(ranks);
}

}  // namespace

std::string_view state_name(CollectiveState state) { return kStates[static_cast<std::size_t>(state)]; }

MatchedCollectives match_collectives(const CollectiveCalls& calls, const Catalog& catalog) { return Matcher(calls, catalog).take(); }

CollectiveTimes times_of(const MatchedCollectives& matched, const CollectiveCalls& calls, const MatchedCollective& collective) {
  CollectiveTimes times;
  const std::int64_t expected = ranks_of(matched, collective);
  times.all_started = times.all_ended = expected >= 0 && collective.calls >= expected;
  const auto some = matched.calls_of(collective);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const CollectiveCall& call = call_of(calls, some[i]);
    times.all_started = times.all_started && call.gpu_start_ns != kNoTime;
    times.all_ended = times.all_ended && call.gpu_end_ns != kNoTime;
    times.end_ns = std::max(times.end_ns, call.gpu_end_ns);
    if (call.gpu_start_ns == kNoTime) continue;
    if (times.first_start_ns == kNoTime || call.gpu_start_ns < times.first_start_ns) times.first_start_ns = call.gpu_start_ns;
    if (times.last_start_ns == kNoTime || call.gpu_start_ns > times.last_start_ns) times.last_start_ns = call.gpu_start_ns, times.last_call = i;
  }
  const Operation operation = calls.whats[collective.what].operation;
  if (all_depend_on_all(operation) && times.all_started && times.all_ended && collective.state == CollectiveState::complete) {
    times.transfer_ns = times.end_ns - times.last_start_ns;
  }
  return times;
}

std::int64_t ranks_of(const MatchedCollectives& matched, const MatchedCollective& collective) {
  return collective.point_to_point ? 2 : matched.groups[collective.group].size;
}

std::optional<std::int64_t> size_of(const MatchedCollectives& matched, const CollectiveCalls& calls, const MatchedCollective& collective) {
  const CollectiveWhat& what = calls.whats[collective.what];
  if (what.buffer_bytes >= 0) return what.buffer_bytes;
  if (what.message_bytes < 0) return {};
  return size_of_messages(what.operation, static_cast<std::uint64_t>(what.message_bytes), matched.groups[collective.group].size);
}

std::string trouble_text(const MatchedCollectives& matched, const CollectiveCalls& calls, const Catalog& catalog, const MatchedCollective& collective) {
  if (collective.state == CollectiveState::complete) return {};
  std::map<WhatId, std::vector<ProcessId>> others;
  std::vector<ProcessId> open, absent = matched.groups[collective.group].members;
  for (const MatchedCall& each : matched.calls_of(collective)) {
    const CollectiveCall& call = call_of(calls, each);
    if (!can_be_same(calls.whats[collective.what], calls.whats[call.what])) others[call.what].push_back(each.process);
    if (call.gpu_end_ns == kNoTime) open.push_back(each.process);
    std::erase(absent, each.process);
  }
  std::string text;
  const auto say = [&](std::string sentence) { text += (text.empty() ? "" : "; ") + std::move(sentence); };
  for (const auto& [what, ranks] : others) say(fmt::format("{}: {}, the others {}", ranks_text(catalog, ranks), what_text(calls.whats[what]), what_text(calls.whats[collective.what])));
  if (!open.empty()) say(fmt::format("not ended on {}", ranks_text(catalog, open)));
  if (collective.point_to_point) {
    if (collective.calls < 2) say("its counterpart is not in the trace");
    return text;
  }
  if (!absent.empty()) say(fmt::format("not in the trace of {}", ranks_text(catalog, absent)));
  const MatchedGroup& group = matched.groups[collective.group];
  const std::int64_t foreign = group.size - static_cast<std::int64_t>(group.members.size());
  if (group.size < 0) say("its other ranks are not known");
  if (foreign > 0 && group.size > 0) say(fmt::format("{} of {} ranks are not in the trace", foreign, group.size));
  return text;
}

}  // namespace cli
