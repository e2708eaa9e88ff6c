#include "cli/timeline/collectives/stragglers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "cli/timeline/collectives/statistics.h"

namespace cli {
namespace {

constexpr double kStandardErrors = 6;
constexpr double kLeastMad_ns = 2000;  // a few points may be on a line by chance

std::optional<std::int64_t> clock_error(const ClockFit& fit) {
  if (fit.method == "reference") return 0;
  if (fit.method != "collectives" || fit.samples == 0 || !fit.mad_ns) return {};
  const double count = static_cast<double>(fit.samples);
  const double sigma_ns =
      std::max(static_cast<double>(*fit.mad_ns), kLeastMad_ns) * kSigmaOfMad * (1 + kFewPoints / count);
  const std::int64_t error_ns = std::llround(kStandardErrors * sigma_ns / std::sqrt(count));
  if (!fit.bound_lo_ns || !fit.bound_hi_ns) return error_ns;
  return std::min(error_ns,
                  std::max(std::abs(*fit.bound_hi_ns - fit.offset_ns), std::abs(*fit.bound_lo_ns - fit.offset_ns)));
}

constexpr std::int64_t kLeastSpanPart = 50;  // the others wait at least 1/50 (2 %) of a straggler's span
constexpr double kMostChance =
    0.01;  // probability of a false straggler in a run in which all ranks are late equally often
// Number of ranks that may be late together; with more ranks, at most half of them
constexpr std::size_t kFewRanks = 3;

// One rank in a collective.
struct Arrival {
  ProcessId process = 0;
  std::int64_t start_ns = 0;    // on the collective's own axis
  std::int64_t late_ns = 0;     // >= 0
  std::int64_t exposed_ns = 0;  // of its work
};

// A collective in which ranks wait for each other, with at least two arrivals.
struct Meeting {
  std::uint32_t group = 0;
  std::size_t first = 0, count = 0;  // in Arrivals::all
  std::int64_t at_ns = 0;            // on one of its ranks, since that rank's first start
  bool by_ends = false;              // starts are measured from the ranks' ends
  // The others were idle while they waited, so all ranks continue together, and lateness in the next meeting is a new
  // delay.
  bool holds_others = false;
};

struct Arrivals {
  std::vector<Arrival> all;  // by meeting, latest first
  std::vector<Meeting> meetings;
  std::vector<std::int64_t> span_ns;  // by ProcessId: from its first start to its last end
  bool by_ends = false;

  std::span<const Arrival> of(const Meeting& meeting) const {
    return std::span(all).subspan(meeting.first, meeting.count);
  }
};

// Returns true if the times of all of them can be compared, as far as the clocks are known.
bool can_compare(std::span<const MatchedCall> some, const ClockKnowledge& clocks) {
  return std::ranges::all_of(
      some, [&](const MatchedCall& each) { return clocks.error_between(each.process, some[0].process).has_value(); });
}

void set_late(std::span<Arrival> some, const ClockKnowledge& clocks, bool by_ends) {
  std::sort(some.begin(), some.end(), [](const Arrival& a, const Arrival& b) {
    return std::pair(b.start_ns, a.process) < std::pair(a.start_ns, b.process);
  });
  const Arrival middle = some[some.size() / 2];
  for (Arrival& each : some) {
    const std::int64_t error_ns = by_ends ? 0 : *clocks.error_between(each.process, middle.process);
    each.late_ns = std::max<std::int64_t>(0, each.start_ns - middle.start_ns - error_ns);
  }
}

// Returns true if nothing else ran for at least half of the time that they waited.
bool holds_others(std::span<const Arrival> some) {
  std::int64_t waited_ns = 0, exposed_ns = 0;
  for (const Arrival& each : some) {
    const std::int64_t wait_ns = some[0].start_ns - each.start_ns;
    waited_ns += wait_ns;
    exposed_ns += std::min(wait_ns, each.exposed_ns);
  }
  return 2 * exposed_ns >= waited_ns;
}

Arrivals arrivals_of(const CollectiveCalls& calls, const MatchedCollectives& matched,
                     const std::vector<std::uint32_t>& chosen, const ClockKnowledge& clocks) {
  Arrivals found;
  const std::size_t processes = calls.processes.size();
  std::vector<std::int64_t> first_ns(processes, kNoTime), last_ns(processes, kNoTime);
  std::vector<ProcessId> measured_on;  // by meeting: the rank of at_ns
  for (const std::uint32_t which : chosen) {
    const MatchedCollective& collective = matched.collectives[which];
    if (collective.state == CollectiveState::mismatch || !all_depend_on_all(calls.whats[collective.what].operation))
      continue;
    const auto some = matched.calls_of(collective);
    const bool by_ends = !can_compare(some, clocks);
    const std::size_t first = found.all.size();
    std::pair<ProcessId, std::int64_t> at;
    for (const MatchedCall& each : some) {
      const CollectiveCall& call = call_of(calls, each);
      if (call.gpu_start_ns == kNoTime || (by_ends && call.gpu_end_ns == kNoTime)) continue;
      found.all.push_back(
          {each.process, by_ends ? call.gpu_start_ns - call.gpu_end_ns : call.gpu_start_ns, 0, call.exposed_ns});
      auto& begin_ns = first_ns[each.process];
      begin_ns = begin_ns == kNoTime ? call.gpu_start_ns : std::min(begin_ns, call.gpu_start_ns);
      last_ns[each.process] = std::max({last_ns[each.process], call.gpu_start_ns, call.gpu_end_ns});
      at = {each.process, call.gpu_start_ns};
    }
    if (found.all.size() < first + 2) {
      found.all.resize(first);
      continue;
    }
    set_late(std::span(found.all).subspan(first), clocks, by_ends);
    found.meetings.push_back({collective.group, first, found.all.size() - first, at.second, by_ends,
                              holds_others(std::span(found.all).subspan(first))});
    measured_on.push_back(at.first);
    found.by_ends = found.by_ends || by_ends;
  }
  for (std::size_t i = 0; i < measured_on.size(); ++i) found.meetings[i].at_ns -= first_ns[measured_on[i]];
  for (std::size_t id = 0; id < processes; ++id)
    found.span_ns.push_back(first_ns[id] == kNoTime ? 0 : last_ns[id] - first_ns[id]);
  return found;
}

void add_sums(const Arrivals& arrivals, Lateness& result) {
  for (const Meeting& meeting : arrivals.meetings) {
    const auto some = arrivals.of(meeting);
    const auto last = some.begin();
    ++result.ranks[last->process].times_last;
    for (const Arrival& each : some) {
      RankLateness& rank = result.ranks[each.process];
      ++rank.collectives;
      rank.late_ns += each.late_ns;
      rank.waited_ns += last->start_ns - each.start_ns;
      result.waited_ns += last->start_ns - each.start_ns;
    }
  }
  result.collectives = static_cast<std::int64_t>(arrivals.meetings.size());
  result.by_ends = arrivals.by_ends;
}

// The starts that determine the cost of a rank: the last two of ranks that are no other stragglers.
void add_costs(const Arrivals& arrivals, Lateness& result) {
  const auto is_straggler = [&](const Arrival& each) { return result.ranks[each.process].straggler; };
  for (const Meeting& meeting : arrivals.meetings) {
    const auto some = arrivals.of(meeting);
    const std::int64_t last_ns = some[0].start_ns, second_ns = some[1].start_ns;
    const auto last_good = std::find_if_not(some.begin(), some.end(), is_straggler);
    const std::int64_t last_good_ns = last_good != some.end() ? last_good->start_ns : last_ns;
    const std::int64_t good = std::ranges::count_if(some, [&](const Arrival& each) { return !is_straggler(each); });
    result.set_cost_ns += (last_ns - last_good_ns) * good;
    for (const Arrival& each : some) {
      const std::int64_t others_ns = is_straggler(each) ? last_good_ns : second_ns;
      const std::int64_t others = is_straggler(each) ? good : static_cast<std::int64_t>(some.size()) - 1;
      if (others == 0 || each.start_ns <= others_ns) continue;
      result.ranks[each.process].others_waited_ns += (each.start_ns - others_ns) * others;
      result.ranks[each.process].delayed_ns += each.start_ns - others_ns;
    }
  }
}

using RankSet = std::vector<bool>;  // by ProcessId

constexpr int kMostLimits = 7;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// Finds the next ranks for which the others wait.
class StragglerSearch {
 public:
  StragglerSearch(const Arrivals& arrivals, const MatchedCollectives& matched, const ClockKnowledge& clocks)
      : arrivals_(arrivals), clocks_(clocks), out_(arrivals.span_ns.size()) {
    std::map<std::vector<ProcessId>, std::vector<const Meeting*>> groups;  // communicators of the same ranks are joined
    for (const Meeting& each : arrivals.meetings) groups[matched.groups[each.group].members].push_back(&each);
    for (auto& [members, meetings] : groups) {
      std::ranges::stable_sort(meetings, [](const Meeting* a, const Meeting* b) { return a->at_ns < b->at_ns; });
      std::int64_t together_ns = meetings[0]->at_ns;
      Group& group = groups_.emplace_back(Group{members, {}});
      for (const Meeting* each : meetings) {
        group.meetings.push_back({each, (each->at_ns - together_ns) / kLeastSpanPart});
        if (each->holds_others) together_ns = each->at_ns;
      }
    }
    for (const auto& each : clocks.errors_ns) most_error_ns_ = std::max(most_error_ns_, 2 * each.value_or(0));
  }

  void take_out(ProcessId id) { out_[id] = true; }

  // By ProcessId and group: the time that the others wait for each of these ranks.
  std::vector<std::map<std::uint32_t, std::int64_t>> delays(const std::vector<ProcessId>& ranks) const {
    RankSet set(out_.size());
    for (const ProcessId id : ranks) set[id] = true;
    std::vector<std::map<std::uint32_t, std::int64_t>> found(set.size());
    for (const Meeting& meeting : arrivals_.meetings)
      for_late(meeting, set, out_, [&](ProcessId id, std::int64_t ns) { found[id][meeting.group] += ns; });
    return found;
  }

  // Returns the smallest set for which the others wait, adding ranks by cost; empty if there is none. A few delays that
  // are much longer than others hide regular ones. Therefore delays are limited in length: first none of them, then all
  // but a tenth, ...
  std::vector<ProcessId> next() const {
    const std::vector<ProcessId> order = by_share();
    for (const std::int64_t most_ns : limits()) {
      // With many ranks not every size is tried; ranks in excess are dropped.
      for (std::size_t count = 1; count <= order.size();
           count = count < order.size() ? std::min(order.size(), count + 1 + count / 16) : count + 1) {
        RankSet set(out_.size());
        for (std::size_t i = 0; i < count; ++i) set[order[i]] = true;
        while (drop_short(set, most_ns) && drop_by_chance(set, most_ns)) {
        }
        std::vector<ProcessId> found;
        for (const ProcessId id : order) {
          if (set[id]) found.push_back(id);
        }
        if (!found.empty()) return found;
      }
    }
    return {};
  }

 private:
  struct MeetingOfGroup {
    const Meeting* meeting;
    std::int64_t allowed_ns;  // 2 % of the time since the ranks last met; a rank may always be that late
  };
  struct Group {
    std::vector<ProcessId> members;
    std::vector<MeetingOfGroup> meetings;  // by time
  };

  // Calls `take` with each rank of the set and its delay after the last of the others, reduced by the error of their
  // clocks.
  template <typename Take>
  void for_late(const Meeting& meeting, const RankSet& set, const RankSet& out, Take&& take) const {
    const auto some = arrivals_.of(meeting);
    const auto is_other = [&](const Arrival& each) { return !set[each.process] && !out[each.process]; };
    const auto last = std::find_if(some.begin(), some.end(), is_other);
    if (last == some.end()) return;
    for (auto each = some.begin(); each != last; ++each) {
      if (!set[each->process]) continue;
      std::int64_t ns = std::numeric_limits<std::int64_t>::max();
      for (auto other = last; other != some.end() && each->start_ns - other->start_ns - most_error_ns_ < ns; ++other) {
        if (is_other(*other)) ns = std::min(ns, each->start_ns - other->start_ns - error_ns(meeting, *each, *other));
      }
      if (ns > 0) take(each->process, ns);
    }
  }

  std::int64_t error_ns(const Meeting& meeting, const Arrival& one, const Arrival& other) const {
    return meeting.by_ends ? 0 : *clocks_.error_between(one.process, other.process);
  }

  static std::size_t most_together(std::size_t ranks) {
    return ranks == 0 ? 0 : std::max(ranks / 2, std::min(kFewRanks, ranks - 1));
  }

  // Returns the limits of a delay: none; the delay exceeded in a tenth, a quarter and half of the meetings; half of
  // these.
  std::vector<std::int64_t> limits() const {
    std::vector<std::int64_t> late_ns, starts_ns;
    for (const Meeting& meeting : arrivals_.meetings) {
      starts_ns.clear();
      for (const Arrival& each : arrivals_.of(meeting)) {
        if (!out_[each.process]) starts_ns.push_back(each.start_ns);
      }
      const std::size_t ranks = starts_ns.size();
      if (ranks > 1) late_ns.push_back(starts_ns[0] - starts_ns[most_together(ranks)]);
    }
    std::sort(late_ns.begin(), late_ns.end());
    std::vector<std::int64_t> found{kNoLimit};
    for (const std::size_t percent : {90, 75, 50}) {
      const std::int64_t ns = late_ns.empty() ? 0 : late_ns[late_ns.size() * percent / 100];
      for (const std::int64_t each : {ns, ns / 2}) {
        if (each > 0 && std::find(found.begin(), found.end(), each) == found.end()) found.push_back(each);
      }
    }
    return found;
  }

  // Returns the ranks that may be late together, the one with the largest share first.
  std::vector<ProcessId> by_share() const {
    const std::vector<double> shares = fair_shares();
    std::vector<ProcessId> order;
    std::size_t all = 0;
    for (ProcessId id = 0; id < shares.size(); ++id) {
      all += arrivals_.span_ns[id] > 0 && !out_[id];
      if (shares[id] > 0) order.push_back(id);
    }
    std::stable_sort(order.begin(), order.end(), [&](ProcessId a, ProcessId b) { return shares[a] > shares[b]; });
    order.resize(std::min(order.size(), most_together(all)));
    // Each of `count` ranks has at least that part of a delay.
    const auto is_short = [&](std::size_t count) {
      const ProcessId last = order[count - 1];
      return shares[last] * static_cast<double>(count) * kLeastSpanPart < static_cast<double>(arrivals_.span_ns[last]);
    };
    while (!order.empty() && is_short(order.size())) order.pop_back();
    return order;
  }

  // Returns, by ProcessId, the time that the first rank of a meeting waits for the others, divided among the late
  // ranks: each interval among the ranks that had not begun yet. (This is the Shapley value if the cost of a set is the
  // largest of its members'.)
  std::vector<double> fair_shares() const {
    std::vector<double> shares(out_.size());
    std::vector<const Arrival*> some;
    for (const Meeting& meeting : arrivals_.meetings) {
      some.clear();
      for (const Arrival& each : arrivals_.of(meeting)) {
        if (!out_[each.process]) some.push_back(&each);
      }
      double share = 0;
      for (std::size_t late = some.size(); late-- > 1;) {
        share += static_cast<double>(some[late - 1]->start_ns - some[late]->start_ns) / static_cast<double>(late);
        shares[some[late - 1]->process] += share;
      }
    }
    return shares;
  }

  // Drops ranks for which the others wait less than 2 %. Returns true if any rank is left.
  bool drop_short(RankSet& set, std::int64_t most_ns) const {
    for (bool dropped = true; dropped;) {
      std::vector<std::int64_t> delay_ns(set.size());
      for (const Meeting& meeting : arrivals_.meetings)
        for_late(meeting, set, out_, [&](ProcessId id, std::int64_t ns) { delay_ns[id] += std::min(ns, most_ns); });
      dropped = false;
      for (ProcessId id = 0; id < set.size(); ++id) {
        if (!set[id] || (delay_ns[id] > 0 && delay_ns[id] >= arrivals_.span_ns[id] / kLeastSpanPart)) continue;
        set[id] = false;
        dropped = true;
      }
    }
    return std::find(set.begin(), set.end(), true) != set.end();
  }

  // Drops ranks that may be late by chance in each of their groups, with the others of the set or without them. Returns
  // true if it dropped any.
  bool drop_by_chance(RankSet& set, std::int64_t most_ns) const {
    // Correction for the number of groups and limits. Sets of one rank, of two, ... each get half of the probability of
    // the previous size.
    const double most_chance = kMostChance / static_cast<double>(groups_.size());
    RankSet kept = beyond_chance(set, out_, most_ns,
                                 most_chance / kMostLimits / std::exp2(std::count(set.begin(), set.end(), true)));
    const RankSet together = kept;
    if (std::count(together.begin(), together.end(), true) > 1) {
      RankSet alone(set.size()), out = out_;
      for (ProcessId id = 0; id < set.size(); ++id) out[id] = out[id] || together[id];
      for (ProcessId id = 0; id < set.size(); ++id) {
        if (!together[id]) continue;
        alone[id] = true, out[id] = false;
        kept[id] = beyond_chance(alone, out, most_ns, most_chance)[id];
        alone[id] = false, out[id] = true;
      }
    }
    const bool dropped = kept != set;
    set = std::move(kept);
    return dropped;
  }

  // Returns the ranks of the set that are late beyond chance in one of their groups, together with the rest of the set.
  RankSet beyond_chance(const RankSet& set, const RankSet& out, std::int64_t most_ns, double most_chance) const {
    RankSet found(set.size());
    for (const Group& group : groups_) {
      if (!is_beyond_chance(group, set, out, most_ns, most_chance)) continue;
      for (const ProcessId id : group.members) found[id] = set[id];
    }
    return found;
  }

  // By ProcessId, for the set: the usual lateness of a rank against the median of the ranks, as a share of the allowed
  // time, at most 1.
  std::vector<double> always_late(const Group& group, const RankSet& set, const RankSet& out) const {
    std::map<ProcessId, std::vector<double>> late;
    std::vector<const Arrival*> some;
    for (const auto& [meeting, allowed_ns] : group.meetings) {
      if (allowed_ns <= 0) continue;
      some.clear();
      for (const Arrival& each : arrivals_.of(*meeting)) {
        if (!out[each.process]) some.push_back(&each);
      }
      for (const Arrival* each : some) {
        if (set[each->process])
          late[each->process].push_back(static_cast<double>(each->start_ns - some[some.size() / 2]->start_ns) /
                                        static_cast<double>(allowed_ns));
      }
    }
    std::vector<double> found(set.size());
    for (auto& [id, shares] : late) {
      const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
      std::nth_element(shares.begin(), middle, shares.end());
      found[id] = std::clamp(*middle, 0.0, 1.0);
    }
    return found;
  }

  // Returns true if the ranks of the set are later in the meetings of the group than chance would make any set of this
  // size. A rank that is always slightly slower is not late by chance, and 2 % are allowed: its usual lateness, up to
  // that limit, is subtracted from its starts.
  bool is_beyond_chance(const Group& group, const RankSet& set, const RankSet& out, std::int64_t most_ns,
                        double most_chance) const {
    if (std::none_of(group.members.begin(), group.members.end(), [&](ProcessId id) { return set[id]; })) return false;
    ExchangeTest test(most_ns);
    RankSet members(set.size());
    std::vector<std::int64_t> starts_ns;
    const std::vector<double> always = always_late(group, set, out);
    const auto allowed_of = [&](ProcessId id, std::int64_t allowed_ns) {
      return static_cast<std::int64_t>(always[id] * static_cast<double>(allowed_ns));
    };
    for (const MeetingOfGroup& of_group : group.meetings) {
      const Meeting& meeting = *of_group.meeting;
      const std::int64_t allowed_ns = of_group.allowed_ns;
      starts_ns.clear();
      std::size_t chosen = 0;
      for (const Arrival& each : arrivals_.of(meeting)) {
        if (out[each.process]) continue;
        starts_ns.push_back(each.start_ns - allowed_of(each.process, allowed_ns));
        members[each.process] = true;
        chosen += set[each.process];
      }
      std::sort(starts_ns.rbegin(), starts_ns.rend());
      std::int64_t late_ns = 0;
      for_late(meeting, set, out, [&](ProcessId id, std::int64_t ns) {
        late_ns = std::max(late_ns, std::min(ns - allowed_of(id, allowed_ns), most_ns));
      });
      if (starts_ns.size() > 1) test.add(starts_ns, chosen, late_ns, meeting.holds_others);
    }
    test.end_block();
    double all = 0, chosen = 0;
    for (ProcessId id = 0; id < set.size(); ++id) {
      all += members[id];
      chosen += members[id] && set[id];
    }
    // The number of sets of this size.
    const double log_sets = std::lgamma(all + 1) - std::lgamma(chosen + 1) - std::lgamma(all - chosen + 1);
    return chosen > 0 && test.is_beyond(std::log(most_chance) - log_sets);
  }

  const Arrivals& arrivals_;
  const ClockKnowledge& clocks_;
  std::int64_t most_error_ns_ = 0;  // of a difference between two ranks' times
  std::vector<Group> groups_;
  RankSet out_;
};

}  // namespace

ClockKnowledge clocks_of(const Catalog& catalog, const std::vector<ClockFit>& fits) {
  ClockKnowledge known;
  std::map<std::string, std::uint32_t> domains;
  for (std::size_t id = 0; id < catalog.processes.size(); ++id) {
    const Process& process = catalog.processes[id];
    const bool is_fitted = process.clock >= 0 && static_cast<std::size_t>(process.clock) < fits.size();
    std::string name = is_fitted ? "clock " + std::to_string(process.clock) : clock_name(process);
    if (name.empty()) name = "process " + std::to_string(id);
    known.domains.push_back(domains.try_emplace(name, static_cast<std::uint32_t>(domains.size())).first->second);
    known.errors_ns.push_back(is_fitted ? clock_error(fits[static_cast<std::size_t>(process.clock)]) : std::nullopt);
  }
  return known;
}

Lateness find_stragglers(const CollectiveCalls& calls, const MatchedCollectives& matched,
                         const std::vector<std::uint32_t>& chosen, const ClockKnowledge& clocks) {
  Lateness result;
  result.ranks.resize(calls.processes.size());
  const Arrivals arrivals = arrivals_of(calls, matched, chosen, clocks);
  add_sums(arrivals, result);
  StragglerSearch search(arrivals, matched, clocks);
  std::vector<std::pair<ProcessId, std::pair<std::uint32_t, std::int64_t>>> late;
  RankSet is_late(result.ranks.size());
  for (auto found = search.next(); !found.empty(); found = search.next()) {
    const auto delays = search.delays(found);
    for (const ProcessId id : found) {
      // The group in which it is latest, and its lateness there.
      late.push_back({id, *std::ranges::max_element(delays[id], {}, [](const auto& each) { return each.second; })});
      is_late[id] = true;
      search.take_out(id);
    }
  }
  LateReasons reasons(calls, matched, chosen, is_late);
  for (const auto& [id, where] : late) {
    RankLateness& rank = result.ranks[id];
    rank.reason = reasons.of(id, where.first, where.second);
    rank.straggler = rank.reason.proven;
  }
  add_costs(arrivals, result);
  return result;
}

}  // namespace cli
