#include "cli/collectives/stragglers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace cli {
namespace {

constexpr std::int64_t kLeastSpanPart = 50;  // a straggler is late for one in so many of its span: 2 %
constexpr double kFairShares = 3;            // and in so many times its fair share of what collectives cost,
constexpr double kLateDeviations = 3;        // which is so many standard deviations more than that
constexpr double kMostCorrelation = 0.6;

// One rank in a collective.
struct Arrival {
  ProcessId process = 0;
  std::int64_t start_ns = 0;  // on an axis of the collective's own
  std::int64_t late_ns = 0;   // >= 0
};

// A collective in which ranks wait for each other, with the arrivals of at least two.
struct Meeting {
  std::uint32_t group = 0;
  std::size_t first = 0, count = 0;  // in Arrivals::all
};

struct Arrivals {
  std::vector<Arrival> all;
  std::vector<Meeting> meetings;
  std::vector<std::int64_t> span_ns;  // by ProcessId: from its first start to its last end
  bool by_ends = false;

  std::span<const Arrival> of(const Meeting& meeting) const { return std::span(all).subspan(meeting.first, meeting.count); }
};

// Times of all of them can be compared, as far as the clocks are known.
bool can_compare(std::span<const MatchedCall> some, const ClockKnowledge& clocks) {
  return std::all_of(some.begin(), some.end(), [&](const MatchedCall& each) { return clocks.error_between(each.process, some[0].process).has_value(); });
}

void set_late(std::span<Arrival> some, const ClockKnowledge& clocks, bool by_ends) {
  std::vector<Arrival> order(some.begin(), some.end());
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  std::nth_element(order.begin(), middle, order.end(), [](const Arrival& a, const Arrival& b) { return a.start_ns < b.start_ns; });
  for (Arrival& each : some) {
    const std::int64_t error_ns = by_ends ? 0 : *clocks.error_between(each.process, middle->process);
    each.late_ns = std::max<std::int64_t>(0, each.start_ns - middle->start_ns - error_ns);
  }
}

Arrivals arrivals_of(const CollectiveCalls& calls, const MatchedCollectives& matched, const std::vector<std::uint32_t>& chosen, const ClockKnowledge& clocks) {
  Arrivals found;
  const std::size_t processes = calls.processes.size();
  std::vector<std::int64_t> first_ns(processes, kNoTime), last_ns(processes, kNoTime);
  for (const std::uint32_t at : chosen) {
    const MatchedCollective& collective = matched.collectives[at];
    if (collective.state == CollectiveState::mismatch || !all_depend_on_all(calls.whats[collective.what].operation)) continue;
    const auto some = matched.calls_of(collective);
    const bool by_ends = !can_compare(some, clocks);
    const std::size_t first = found.all.size();
    for (const MatchedCall& each : some) {
      const CollectiveCall& call = call_of(calls, each);
      if (call.gpu_start_ns == kNoTime || (by_ends && call.gpu_end_ns == kNoTime)) continue;
      found.all.push_back({each.process, by_ends ? call.gpu_start_ns - call.gpu_end_ns : call.gpu_start_ns, 0});
      auto& begin_ns = first_ns[each.process];
      begin_ns = begin_ns == kNoTime ? call.gpu_start_ns : std::min(begin_ns, call.gpu_start_ns);
      last_ns[each.process] = std::max({last_ns[each.process], call.gpu_start_ns, call.gpu_end_ns});
    }
    if (found.all.size() < first + 2) {
      found.all.resize(first);
      continue;
    }
    set_late(std::span(found.all).subspan(first), clocks, by_ends);
    found.meetings.push_back({collective.group, first, found.all.size() - first});
    found.by_ends = found.by_ends || by_ends;
  }
  for (std::size_t id = 0; id < processes; ++id) found.span_ns.push_back(first_ns[id] == kNoTime ? 0 : last_ns[id] - first_ns[id]);
  return found;
}

// The latest of those that are not taken out, as late_ns; 0: nobody is late.
std::int64_t lost_ns(std::span<const Arrival> some, const std::vector<bool>& out) {
  std::int64_t most = 0;
  for (const Arrival& each : some) most = out[each.process] ? most : std::max(most, each.late_ns);
  return most;
}

// In how much of what its meetings cost a rank was among the late ones, and in how much it would be, were all alike.
class Share {
 public:
  // A meeting that cost so much, where so many of the ranks were late; in the order of time.
  void add(std::int64_t lost_ns, bool is_late, double late_share) {
    const double lost = static_cast<double>(lost_ns), both = last_lost_ > 0 ? (lost + last_lost_) / 2 : 0;
    pairs_ += both;
    changes_ += is_late != was_late_ ? both : 0;
    last_lost_ = lost;
    was_late_ = is_late;
    all_ += lost;
    late_ += is_late ? lost : 0;
    expected_ += lost * late_share;
    variance_ += lost * lost * late_share * (1 - late_share);
  }

  bool is_too_often() const {
    const double needed = std::min(kFairShares * expected_, (expected_ + all_) / 2);
    return late_ > 0 && late_ >= needed && late_ >= expected_ + kLateDeviations * std::sqrt(variance_ * inflation());
  }

 private:
  // One delay may make a rank late in several meetings, as in all buckets of a step: the variance of such a sum is larger by
  // (1 + r) / (1 - r), where r is the correlation of one meeting with the next.
  double inflation() const {
    const double share = late_ / all_, alike = share * (1 - share);
    if (pairs_ <= 0 || alike <= 0) return 1;
    const double r = std::clamp(1 - changes_ / (2 * pairs_ * alike), 0.0, kMostCorrelation);
    return (1 + r) / (1 - r);
  }

  double all_ = 0, late_ = 0, expected_ = 0, variance_ = 0, pairs_ = 0, changes_ = 0, last_lost_ = 0;
  bool was_late_ = false;
};

std::vector<Share> shares_of(const Arrivals& arrivals, const std::vector<bool>& out) {
  std::vector<Share> shares(out.size());
  for (const Meeting& meeting : arrivals.meetings) {
    const auto some = arrivals.of(meeting);
    const std::int64_t most_ns = lost_ns(some, out);
    if (most_ns == 0) continue;
    const auto is_late = [&](const Arrival& each) { return each.late_ns > 0 && each.late_ns >= most_ns / 2; };
    double late = 0, ranks = 0;
    for (const Arrival& each : some) {
      if (!out[each.process]) {
        ranks += 1;
        late += is_late(each) ? 1 : 0;
      }
    }
    for (const Arrival& each : some) {
      if (!out[each.process]) shares[each.process].add(most_ns, is_late(each), late / ranks);
    }
  }
  return shares;
}

void add_sums(const Arrivals& arrivals, Lateness& result) {
  for (const Meeting& meeting : arrivals.meetings) {
    const auto some = arrivals.of(meeting);
    const auto last = std::max_element(some.begin(), some.end(), [](const Arrival& a, const Arrival& b) { return a.start_ns < b.start_ns; });
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

// Where a rank is latest, and by how much there.
std::pair<std::uint32_t, std::int64_t> latest_group(const Arrivals& arrivals, ProcessId rank) {
  std::map<std::uint32_t, std::int64_t> late;
  for (const Meeting& meeting : arrivals.meetings) {
    for (const Arrival& each : arrivals.of(meeting)) {
      if (each.process == rank) late[meeting.group] += each.late_ns;
    }
  }
  return *std::max_element(late.begin(), late.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
}

// Starts that matter for what the rank costs: the last two of those that are no other straggler.
void add_costs(const Arrivals& arrivals, Lateness& result) {
  const auto is_straggler = [&](const Arrival& each) { return result.ranks[each.process].straggler; };
  for (const Meeting& meeting : arrivals.meetings) {
    const auto some = arrivals.of(meeting);
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    std::int64_t last_ns = kNone, second_ns = kNone, last_good_ns = kNone, good = 0;
    for (const Arrival& each : some) {
      second_ns = std::max(second_ns, std::min(last_ns, each.start_ns));
      last_ns = std::max(last_ns, each.start_ns);
      if (!is_straggler(each)) {
        last_good_ns = std::max(last_good_ns, each.start_ns);
        ++good;
      }
    }
    if (good > 0) result.set_cost_ns += (last_ns - last_good_ns) * good;
    for (const Arrival& each : some) {
      const std::int64_t others_ns = is_straggler(each) ? last_good_ns : second_ns;
      const std::int64_t others = is_straggler(each) ? good : static_cast<std::int64_t>(some.size()) - 1;
      if (others == 0 || each.start_ns <= others_ns) continue;
      result.ranks[each.process].others_waited_ns += (each.start_ns - others_ns) * others;
      result.ranks[each.process].delayed_ns += each.start_ns - others_ns;
    }
  }
}

}  // namespace

Lateness find_stragglers(const CollectiveCalls& calls, const MatchedCollectives& matched, const std::vector<std::uint32_t>& chosen,
                         const ClockKnowledge& clocks) {
  Lateness result;
  result.ranks.resize(calls.processes.size());
  const Arrivals arrivals = arrivals_of(calls, matched, chosen, clocks);
  add_sums(arrivals, result);
  LateReasons reasons(calls, matched, chosen);
  std::vector<bool> out(calls.processes.size());
  for (bool found = true; found;) {
    found = false;
    const std::vector<Share> shares = shares_of(arrivals, out);
    for (ProcessId id = 0; id < out.size(); ++id) {
      RankLateness& rank = result.ranks[id];
      const bool is_long = rank.late_ns > 0 && rank.late_ns * kLeastSpanPart >= arrivals.span_ns[id];
      if (out[id] || !is_long || !shares[id].is_too_often()) continue;
      const auto [group, late_ns] = latest_group(arrivals, id);
      rank.reason = reasons.of(id, group, late_ns);
      rank.straggler = rank.reason.proven;
      out[id] = found = true;
    }
  }
  add_costs(arrivals, result);
  return result;
}

}  // namespace cli
