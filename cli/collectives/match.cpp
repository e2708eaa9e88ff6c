#include "cli/collectives/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
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

using Place = std::pair<ProcessId, std::uint32_t>;  // of a lane: process and number
Place place_of(const LaneRef& ref) { return {ref.process, ref.lane}; }

// A lane is compared as a whole with so many others before it is refused, where most others do not fit it.
constexpr std::size_t kMostReferences = 8;
// What may be compared, of a run, and more for each of its calls: some tenths of a second, and some microseconds.
constexpr std::size_t kPairsAtLeast = std::size_t{1} << 24, kPairsOfCall = 256;

// Lanes that may belong together.
struct FamilyKey {
  CommunicatorId communicator;
  bool point_to_point, counted, replay;
  std::int32_t source, destination;
  auto operator<=>(const FamilyKey&) const = default;
};

// Every rank takes part. One that has several calls of it, as none should, is one.
bool has_all_ranks(const MatchedCollectives& matched, const MatchedCollective& collective) {
  const std::int64_t expected = ranks_of(matched, collective);
  const auto some = matched.calls_of(collective);
  std::int64_t ranks = 0;
  for (std::size_t i = 0; i < some.size(); ++i) ranks += collective.point_to_point || i == 0 || some[i].process != some[i - 1].process;
  return expected >= 0 && ranks >= expected;
}

class Matcher {
 public:
  Matcher(const CollectiveCalls& calls, const Catalog& catalog) : calls_(calls), catalog_(catalog) {
    for (const ProcessCalls& process : calls.processes) {
      for (const CollectiveLane& each : process.lanes) budget_.pairs += kPairsOfCall * each.calls.size();
    }
  }

  MatchedCollectives take() {
    auto all = families();
    for (auto& [key, lanes] : all) {
      if (!key.counted) find_late(lanes);
    }
    for (auto& [key, lanes] : all) family(key, std::move(lanes));
    for (MatchedGroup& group : out_.groups) finish(group);
    find_ended();
    for (std::size_t at = 0; at < out_.collectives.size(); ++at) out_.collectives[at].state = state_of(at);
    note_open();
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
    out_.refusals.push_back({ref.process, lane(ref).communicator, lane(ref).calls.size(), lane(ref).point_to_point, std::move(why)});
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

  void by_length(std::vector<LaneRef>& lanes) const {
    std::stable_sort(lanes.begin(), lanes.end(), [&](const LaneRef& a, const LaneRef& b) { return lane(a).calls.size() > lane(b).calls.size(); });
  }

  // ---- numbered calls ----

  LaneFit as_numbered(const LaneRef& a, const LaneRef& b) const {
    return fit_at(lane(a), lane(b), calls_.whats, same_clock(a.process, b.process), b.shift - a.shift);
  }

  // The lane whose numbers most others agree with, and how many do.
  std::pair<LaneRef, std::size_t> most_agreed(std::vector<LaneRef> lanes) const {
    by_length(lanes);
    std::pair<LaneRef, std::size_t> best{lanes[0], 0};
    for (std::size_t i = 0; i < std::min(lanes.size(), kMostReferences); ++i) {
      std::size_t agree = 0;
      for (const LaneRef& each : lanes) agree += each.process != lanes[i].process && proves(as_numbered(lanes[i], each));
      if (i == 0 || agree > best.second) best = {lanes[i], agree};
      if (2 * best.second >= lanes.size()) break;
    }
    return best;
  }

  // A rank that was recorded late may have counted from there: its numbers and another's are not those of the same calls. Numbers are
  // believed unless times say clearly that others are right: clocks are set, and ends of large transfers differ.
  void find_late(std::vector<LaneRef>& lanes) {
    if (lanes.size() < 2) return;
    const auto [first, agree] = most_agreed(lanes);
    const bool is_sure = 2 * (agree + 1) > lanes.size();
    std::stable_partition(lanes.begin(), lanes.end(), [&, place = place_of(first)](const LaneRef& each) { return place_of(each) == place; });
    for (LaneRef& each : lanes) {
      if (each.process == first.process) continue;
      const LaneFit told = as_numbered(first, each);
      if (proves(told)) agreed_.insert({first.process, each.process});
      if (told.possible || told.pairs == 0) continue;
      const LaneFit fit = fit_lanes(lane(first), lane(each), calls_.whats, same_clock(first.process, each.process), budget_);
      const CommunicatorId communicator = lane(each).communicator;
      if (!(fit.possible || fit.alike) || fit.shift == 0 || (told.binding > 0 && !is_clearly_better(fit.mad_ns, told.mad_ns))) {
        if (!told.differs && told.width_ns < -kTimestampError_ns) {
          out_.notes.push_back(fmt::format("numbers of {} and {} in {} are believed, but times differ: {}", rank_text(first.process), rank_text(each.process),
                                           label(communicator), told.why));
        }
        continue;
      }
      unsure_.insert(each.process);
      if (!is_sure) unsure_.insert(first.process);
      if (fit.alike) continue;
      each.shift = fit.shift;
      out_.notes.push_back(fmt::format("{} counted the collectives of {} from another one than {}: {} is added to its numbers", rank_text(each.process),
                                       label(communicator), rank_text(first.process), fit.shift / lane(each).ordinal_step));
    }
  }

  // Once a rank was found to count from elsewhere, numbers of other ranks than such as were seen to agree are believed where times say
  // the same: with those of ranks that are sure, or with the first one's, which find_late() compared all with; whichever most are
  // matched by.
  void refuse_unsure(std::vector<LaneRef>& lanes) {
    if (unsure_.empty()) return;
    const auto is_sure = [&](const LaneRef& each) { return unsure_.count(each.process) == 0 && agreed_.count(each.process) != 0; };
    std::vector<LaneRef> sure;
    std::copy_if(lanes.begin(), lanes.end(), std::back_inserter(sure), is_sure);
    by_length(sure);
    const auto fits = [&](const LaneRef& reference, const LaneRef& each) {
      return each.process == reference.process || (is_sure(reference) && is_sure(each)) || proves(as_numbered(reference, each));
    };
    const auto fitting = [&](const LaneRef& reference) {
      return std::count_if(lanes.begin(), lanes.end(), [&](const LaneRef& each) { return fits(reference, each); });
    };
    const LaneRef first = sure.empty() || fitting(sure[0]) < fitting(lanes[0]) ? lanes[0] : sure[0];
    std::erase_if(lanes, [&](const LaneRef& each) {
      if (fits(first, each)) return false;
      const LaneFit fit = as_numbered(first, each);
      refuse(each, fmt::format("some ranks count from other calls than others, and nothing proves that numbers of {} and {} are of the same: {}",
                               rank_text(each.process), rank_text(first.process), fit.possible ? "too few calls tell it" : fit.why));
      return true;
    });
  }

  std::string label(CommunicatorId id) const { return info(id).label.empty() ? "an unknown communicator" : "communicator " + info(id).label; }

  // ---- counted calls ----

  // Of two lanes, once: the second one's positions and this are the first one's.
  LaneFit compare(const LaneRef& a, const LaneRef& b) {
    const bool turned = place_of(b) < place_of(a);
    const LaneRef &one = turned ? b : a, &other = turned ? a : b;
    const auto [known, is_new] = compared_.try_emplace({place_of(one), place_of(other)});
    if (is_new) known->second = fit_lanes(lane(one), lane(other), calls_.whats, same_clock(one.process, other.process), budget_);
    LaneFit fit = known->second;
    if (turned) fit.shift = -fit.shift;
    return fit;
  }

  // What says that two lanes are of one communicator, where no name does. Ranks that work in lockstep end alike in collectives of
  // different communicators, too, but there they begin as much alike.
  LaneFit compare(const LaneRef& a, const LaneRef& b, bool is_named) {
    LaneFit fit = compare(a, b);
    if (is_named || !fit.possible || is_clearly_better(fit.mad_ns, fit.starts_mad_ns)) return fit;
    fit.possible = false;
    fit.why = fmt::format("ends differ by {:.1f} us, no less than a quarter of the {:.1f} us that starts do: that may be ranks in lockstep",
                          fit.mad_ns / 1e3, fit.starts_mad_ns / 1e3);
    return fit;
  }

  struct Fitting {
    double mad_ns;
    LaneRef ref;
  };

  // Those of `lanes` that belong to the first one, one of each process, by how well they fit. `why`: of the others.
  std::vector<Fitting> that_fit_first(const std::vector<LaneRef>& lanes, bool is_named, std::map<Place, std::string>& why) {
    const LaneRef& first = lanes.front();
    std::map<ProcessId, std::vector<Fitting>> found;
    for (const LaneRef& each : lanes) {
      if (each.process == first.process) continue;
      const LaneFit fit = compare(first, each, is_named);
      if (fit.possible) {
        found[each.process].push_back({fit.mad_ns, {each.process, each.lane, fit.shift}});
      } else {
        for (const auto& [one, other] : {std::pair(each, first), std::pair(first, each)}) {
          if (why.count(place_of(one)) != 0) continue;
          const std::string reason = why_not(lane(first), lane(each), calls_.whats, same_clock(first.process, each.process), fit);
          why.emplace(place_of(one), fmt::format("with {}: {}", rank_text(other.process), reason));
        }
      }
    }
    std::vector<Fitting> fitting;
    const auto by_mad = [](const Fitting& a, const Fitting& b) { return a.mad_ns < b.mad_ns; };
    for (auto& [process, some] : found) {
      std::sort(some.begin(), some.end(), by_mad);
      const Fitting& best = some[0];
      const bool is_one = some.size() == 1 || is_clearly_better(best.mad_ns, some[1].mad_ns);
      // And the other way round: none of the first one's process fits it alike.
      const bool is_mutual = std::none_of(lanes.begin(), lanes.end(), [&](const LaneRef& other) {
        if (other.process != first.process || other.lane == first.lane) return false;
        const LaneFit fit = compare(best.ref, other, is_named);
        return fit.possible && !is_clearly_better(best.mad_ns, fit.mad_ns);
      });
      if (is_one && is_mutual) {
        fitting.push_back(best);
      } else {
        const std::string reason = fmt::format("several streams of {} fit it alike", rank_text(is_one ? first.process : process));
        why.try_emplace(place_of(is_one ? best.ref : first), reason);
      }
    }
    std::sort(fitting.begin(), fitting.end(), by_mad);
    return fitting;
  }

  // The longest lane takes all that fit it; then the longest of the rest.
  void cluster(const FamilyKey& key, std::vector<LaneRef> lanes, bool is_named) {
    by_length(lanes);
    std::map<Place, std::string> why;
    std::map<Place, std::size_t> refused;
    while (!lanes.empty()) {
      const LaneRef first = lanes.front();
      std::vector<LaneRef> together{first};
      bool others_are_unknown = false;
      double before_ns = kTimestampError_ns;
      for (const Fitting& each : that_fit_first(lanes, is_named, why)) {
        if (!is_named && is_clearly_better(before_ns, each.mad_ns)) {
          others_are_unknown = true;
          why.try_emplace(place_of(each.ref), fmt::format("with {}: ends differ by {:.1f} us, those of other ranks by {:.1f} us",
                                                                         rank_text(first.process), each.mad_ns / 1e3, before_ns / 1e3));
          continue;
        }
        before_ns = std::max(before_ns, each.mad_ns);
        together.push_back(each.ref);
      }
      if (together.size() > 1) {
        const std::uint32_t group = is_named ? group_of(key.communicator) : new_group(key.communicator);
        out_.groups[group].others_are_unknown |= others_are_unknown;
        put(group, key, together);
      } else {
        const auto known = why.find(place_of(first));
        refuse(first, known != why.end() ? known->second : "no other rank has anything like it");
      }
      std::erase_if(lanes, [&](const LaneRef& each) {
        const Place place = place_of(each);
        if (std::any_of(together.begin(), together.end(), [&](const LaneRef& other) { return place_of(other) == place; })) return true;
        // Of a communicator that has a name, all belong together: what fits none of many is not tried with the rest.
        if (!is_named || ++refused[place] < kMostReferences) return false;
        refuse(each, why[place]);
        return true;
      });
    }
    compared_.clear();
  }

  std::uint32_t new_group(CommunicatorId communicator) {
    out_.groups.push_back({communicator, {}, info(communicator).size, info(communicator).size > 0, false});
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
    ++families_put_;
    for (std::size_t at = 0; at < all.size();) {
      MatchedCollective collective;
      collective.group = group;
      collective.point_to_point = key.point_to_point;
      collective.counted = key.counted;
      collective.ordinal = (all[at].position - first) / step;
      collective.first_call = static_cast<std::uint32_t>(out_.calls.size());
      const std::int64_t position = all[at].position;
      for (; at < all.size() && all[at].position == position; ++at) out_.calls.push_back(all[at].call);
      collective.calls = static_cast<std::uint32_t>(out_.calls.size()) - collective.first_call;
      collective.what = what_of_most(collective);
      out_.collectives.push_back(collective);
      family_of_.push_back(families_put_);
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
    group.others_are_unknown |= group.members.size() == 1 && catalog_.processes[group.members[0]].world_size != 1;
    if (!group.size_is_told) group.size = group.others_are_unknown ? -1 : static_cast<std::int64_t>(group.members.size());
  }

  // A collective in which every rank depends on all, and that has ended somewhere, was begun by all, who were done with those before
  // it. A recording that was killed lacks the newest work of some.
  void find_ended() {
    last_ended_.assign(families_put_ + 1, 0);
    for (std::size_t at = 0; at < out_.collectives.size(); ++at) {
      const MatchedCollective& each = out_.collectives[at];
      const auto some = out_.calls_of(each);
      const auto has_ended = [&](const MatchedCall& call) { return call_of(calls_, call).gpu_end_ns != kNoTime; };
      if (all_depend_on_all(calls_.whats[each.what].operation) && std::any_of(some.begin(), some.end(), has_ended)) last_ended_[family_of_[at]] = at + 1;
    }
  }
  bool was_begun_by_all(std::size_t at) const { return at < last_ended_[family_of_[at]]; }

  CollectiveState state_of(std::size_t at) const {
    const MatchedCollective& collective = out_.collectives[at];
    bool is_open = false;
    for (const MatchedCall& each : out_.calls_of(collective)) {
      if (!can_be_same(calls_.whats[collective.what], calls_.whats[call_of(calls_, each).what])) return CollectiveState::mismatch;
      is_open = is_open || is_open_call(each, was_begun_by_all(at));
    }
    if (is_open) return CollectiveState::open;
    if (!has_all_ranks(out_, collective)) return CollectiveState::missing_ranks;
    const auto some = out_.calls_of(collective);
    const bool is_timed = std::none_of(some.begin(), some.end(), [&](const MatchedCall& each) { return call_of(calls_, each).gpu_end_ns == kNoTime; });
    return is_timed ? CollectiveState::complete : CollectiveState::no_gpu_work;
  }

  // Begun and not ended, as far as the recording goes.
  bool is_open_call(const MatchedCall& which, bool was_begun) const {
    const CollectiveCall& call = call_of(calls_, which);
    if (call.gpu_start_ns != kNoTime) return call.gpu_end_ns == kNoTime;
    if (call.host_start_ns == kNoTime || was_begun) return false;
    if (call.host_end_ns == kNoTime) return true;
    if (call.group_has_ended) return false;
    const Process& process = catalog_.processes[which.process];
    if (process.state == RecordingState::clean || process.counts[static_cast<std::size_t>(Kind::kernel)] == 0) return false;
    const auto& all = calls_.processes[which.process].lanes[which.lane].calls;
    return std::all_of(all.begin() + which.call, all.end(), [](const CollectiveCall& later) { return later.gpu_start_ns == kNoTime; });
  }

  // A job that hangs: where each rank is in a communicator of which a collective never ended.
  void note_open() {
    std::vector<const MatchedCollective*> open(out_.groups.size());
    std::vector<std::map<ProcessId, std::int64_t>> completed(out_.groups.size());
    for (std::size_t at = 0; at < out_.collectives.size(); ++at) {
      const MatchedCollective& each = out_.collectives[at];
      if (each.point_to_point) continue;
      if (each.state == CollectiveState::open && open[each.group] == nullptr) open[each.group] = &each;
      const bool ended = each.state != CollectiveState::mismatch && was_begun_by_all(at);
      for (const MatchedCall& call : out_.calls_of(each)) {
        if (const CollectiveCall& one = call_of(calls_, call); one.gpu_end_ns != kNoTime || one.group_has_ended || (ended && one.gpu_start_ns == kNoTime)) completed[each.group][call.process] = each.ordinal;
      }
    }
    for (std::size_t group = 0; group < open.size(); ++group) {
      if (open[group] == nullptr) continue;
      std::map<std::int64_t, std::vector<std::int64_t>> ranks;  // by the last that they completed; -1: none
      for (const ProcessId id : out_.groups[group].members) {
        const auto known = completed[group].find(id);
        ranks[known != completed[group].end() ? known->second : -1].push_back(catalog_.processes[id].rank);
      }
      std::string text = fmt::format("{}: {} number {} had not ended", label(out_.groups[group].communicator),
                                     operation_name(calls_.whats[open[group]->what].operation), open[group]->ordinal);
      for (const auto& [ordinal, some] : ranks) {
        text += fmt::format("; {} completed {} last", rank_list(some), ordinal < 0 ? "none" : fmt::format("number {}", ordinal));
      }
      std::vector<std::int64_t> absent;
      const auto callers = out_.calls_of(*open[group]);
      for (const ProcessId id : out_.groups[group].members) {
        const auto is_it = [&](const MatchedCall& each) { return each.process == id; };
        if (std::none_of(callers.begin(), callers.end(), is_it)) absent.push_back(catalog_.processes[id].rank);
      }
      if (!absent.empty()) text += fmt::format("; it is not in the trace of {}", rank_list(absent));
      out_.notes.push_back(std::move(text));
    }
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
  std::set<ProcessId> unsure_;  // whose numbers are not those of others in some communicator, or theirs not these
  std::set<ProcessId> agreed_;  // whose numbers times prove in some
  std::map<std::pair<Place, Place>, LaneFit> compared_;  // of the family at hand
  FitBudget budget_{kPairsAtLeast};
  std::uint32_t families_put_ = 0;          // numbered from 1, by which
  std::vector<std::uint32_t> family_of_;    // of each collective
  std::vector<std::size_t> last_ended_;     // by family: the last collective that all began, + 1; 0: none
};

constexpr std::array<std::string_view, 5> kStates{"complete", "missing_ranks", "mismatch", "open", "no_gpu_work"};

std::string ranks_text(const Catalog& catalog, const std::vector<ProcessId>& processes) {
  std::vector<std::int64_t> ranks;
  for (const ProcessId id : processes) ranks.push_back(catalog.processes[id].rank);
  return rank_list(ranks);
}

// The ranks of a communicator that has a name which are in the trace, and none of whose collectives could be matched.
std::vector<ProcessId> refused_of(const MatchedCollectives& matched, const MatchedGroup& group) {
  std::vector<ProcessId> found;
  if (!group.size_is_told) return found;
  for (const MatchRefusal& each : matched.refusals) {
    const auto is_in = [&](const std::vector<ProcessId>& some) { return std::find(some.begin(), some.end(), each.process) != some.end(); };
    if (each.communicator == group.communicator && !each.point_to_point && !is_in(group.members) && !is_in(found)) found.push_back(each.process);
  }
  return found;
}

}  // namespace

std::string_view state_name(CollectiveState state) { return kStates[static_cast<std::size_t>(state)]; }

MatchedCollectives match_collectives(const CollectiveCalls& calls, const Catalog& catalog) { return Matcher(calls, catalog).take(); }

CollectiveTimes times_of(const MatchedCollectives& matched, const CollectiveCalls& calls, const MatchedCollective& collective) {
  CollectiveTimes times;
  times.all_started = times.all_ended = has_all_ranks(matched, collective);
  const auto some = matched.calls_of(collective);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const CollectiveCall& call = call_of(calls, some[i]);
    times.all_started = times.all_started && call.gpu_start_ns != kNoTime;
    times.all_ended = times.all_ended && call.gpu_end_ns != kNoTime;
    times.end_ns = std::max(times.end_ns, call.gpu_end_ns);
    if (call.gpu_start_ns == kNoTime) continue;
    if (times.first_start_ns == kNoTime || call.gpu_start_ns < times.first_start_ns) times.first_start_ns = call.gpu_start_ns;
    if (times.last_start_ns == kNoTime || call.gpu_start_ns > times.last_start_ns) {
      times.last_start_ns = call.gpu_start_ns;
      times.last_call = i;
    }
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
  std::vector<ProcessId> open, untimed, absent = matched.groups[collective.group].members;
  for (const MatchedCall& each : matched.calls_of(collective)) {
    const CollectiveCall& call = call_of(calls, each);
    if (!can_be_same(calls.whats[collective.what], calls.whats[call.what])) others[call.what].push_back(each.process);
    if (call.gpu_end_ns == kNoTime) (call.gpu_start_ns != kNoTime || collective.state == CollectiveState::open ? open : untimed).push_back(each.process);
    std::erase(absent, each.process);
  }
  std::string text;
  const auto say = [&](std::string sentence) { text += (text.empty() ? "" : "; ") + std::move(sentence); };
  for (const auto& [what, ranks] : others) say(fmt::format("{}: {}, the others {}", ranks_text(catalog, ranks), what_text(calls.whats[what]), what_text(calls.whats[collective.what])));
  if (!open.empty()) say(fmt::format("not ended on {}", ranks_text(catalog, open)));
  if (!untimed.empty()) say(fmt::format("its GPU work is not in the trace of {}", ranks_text(catalog, untimed)));
  if (collective.point_to_point) {
    if (collective.calls < 2) say("its counterpart is not in the trace");
    return text;
  }
  if (!absent.empty()) say(fmt::format("not in the trace of {}", ranks_text(catalog, absent)));
  const MatchedGroup& group = matched.groups[collective.group];
  if (group.size < 0) {
    say("its other ranks are not known");
    return text;
  }
  const std::vector<ProcessId> refused = refused_of(matched, group);
  if (!refused.empty()) say(fmt::format("of {} it could not be matched", ranks_text(catalog, refused)));
  const std::int64_t foreign = group.size - std::ssize(group.members) - std::ssize(refused);
  if (foreign > 0) say(fmt::format("{} of {} ranks are not in the trace", foreign, group.size));
  return text;
}

}  // namespace cli
