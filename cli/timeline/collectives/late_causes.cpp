#include "cli/timeline/collectives/late_causes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cli {
namespace {

constexpr std::int64_t kLeastPart = 3;  // a cause explains at least 1/3 of the time
// An account above the noise exceeds the others' by this number of standard deviations
constexpr double kNoiseDeviations = 4;
// Variance of the median of n normally distributed values, divided by that of their mean
constexpr double kMedianVariance = 1.57;
constexpr std::int64_t kLeastOfLate = 6;   // ... and at least 1/6 of the lateness in the group
constexpr std::int64_t kLeastWaited = 10;  // at least 1/10 of a rank's lateness counts as time waited by the others

std::size_t index(LateCause cause) { return static_cast<std::size_t>(cause); }

template <typename T>
T median(std::vector<T> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the standard deviation of noise, the larger estimate of the middle half and of the tails. Each of
// `differences` is between two ranks.
double deviation(std::vector<std::int64_t> differences) {
  if (differences.empty()) return 0;
  for (std::int64_t& each : differences) each = std::abs(each);
  std::sort(differences.begin(), differences.end());
  const std::size_t last = differences.size() - 1;
  // In a normal distribution, half of the values are within 0.6745 standard deviations, and 90 % within 1.645.
  return std::max(static_cast<double>(differences[last / 2]) / 0.6745,
                  static_cast<double>(differences[last * 9 / 10]) / 1.645) /
         std::sqrt(2);
}

// By group.
std::vector<LateRows> rows_of(const CollectiveCalls& calls, const MatchedCollectives& matched,
                              const std::vector<std::uint32_t>& chosen) {
  std::vector<std::size_t> collectives(matched.groups.size()), next(matched.groups.size());
  for (const std::uint32_t each : chosen) ++collectives[matched.collectives[each].group];
  std::vector<LateRows> rows(matched.groups.size());
  for (const std::uint32_t at : chosen) {
    const std::uint32_t group = matched.collectives[at].group;
    for (const MatchedCall& each : matched.calls_of(matched.collectives[at])) {
      const CollectiveCall& call = call_of(calls, each);
      if (call.gpu_start_ns == kNoTime) continue;
      LateRow& row = rows[group][each.process];
      row.resize(collectives[group]);
      row[next[group]] = &call;
    }
    ++next[group];
  }
  return rows;
}

struct Spent {
  GpuAccounts accounts;
  std::int64_t elsewhere_ns = 0;  // in collectives of other groups
};

// Between two of its calls.
Spent spent(const LateRow& row, const CollectiveCall& first, const CollectiveCall& last) {
  Spent found{last.before - first.before, 0};
  found.elsewhere_ns = found.accounts.communication_ns;
  for (const CollectiveCall* each : row) {
    const bool within =
        each != nullptr && each->gpu_start_ns >= first.gpu_start_ns && each->gpu_start_ns < last.gpu_start_ns;
    if (within) found.elsewhere_ns -= each->exposed_ns;
  }
  return found;
}

struct Compared {
  Spent own, other;
  double scale = 1;  // from the common time to all of the rank's time
};

// Between the first and the last collective that both have; empty if they have fewer than two.
std::optional<Compared> compare(const LateRow& own, const LateRow& other) {
  std::size_t first = own.size(), last = own.size();
  std::int64_t begin_ns = kNoTime, end_ns = kNoTime;
  for (std::size_t at = 0; at < own.size() && at < other.size(); ++at) {
    if (own[at] == nullptr) continue;
    const std::int64_t start_ns = own[at]->gpu_start_ns;
    if (begin_ns == kNoTime || start_ns < begin_ns) begin_ns = start_ns;
    end_ns = std::max(end_ns, start_ns);
    if (other[at] == nullptr) continue;
    if (first == own.size() || start_ns < own[first]->gpu_start_ns) first = at;
    if (last == own.size() || start_ns > own[last]->gpu_start_ns) last = at;
  }
  if (first == own.size() || own[first]->gpu_start_ns == own[last]->gpu_start_ns) return {};
  const double both = static_cast<double>(own[last]->gpu_start_ns - own[first]->gpu_start_ns);
  return Compared{spent(own, *own[first], *own[last]), spent(other, *other[first], *other[last]),
                  static_cast<double>(end_ns - begin_ns) / both};
}

// The same kernel or copy on other ranks.
struct Peers {
  std::int64_t count = 0;  // median
  double mean_ns = 0;
  bool any = false;
};

Peers peers_of(const WorkSum& work, const std::vector<const ProcessCalls*>& others) {
  std::vector<std::int64_t> counts;
  std::vector<double> means;
  for (const ProcessCalls* other : others) {
    const auto found = std::lower_bound(
        other->work.begin(), other->work.end(), work,
        [](const WorkSum& a, const WorkSum& b) { return std::pair(a.name, a.launch) < std::pair(b.name, b.launch); });
    const bool has = found != other->work.end() && found->name == work.name && found->launch == work.launch;
    counts.push_back(has ? found->count : 0);
    if (has) means.push_back(static_cast<double>(found->sum_ns) / static_cast<double>(found->count));
  }
  return {median(counts), median(means), !means.empty()};
}

// How much longer a rank's work takes, which part of it is the cause, and the work with the largest part.
struct Work {
  double slow_share = 0;  // part of its compute from kernels that others have, too, but that take longer
  std::map<LateCause, std::pair<double, WorkSum>> most;  // ns more than the others
  std::map<LateCause, Peers> peers;
};

Work compare_work(const ProcessCalls& own, const std::vector<const ProcessCalls*>& others) {
  Work result;
  double slow_ns = 0, same_ns = 0;
  for (const WorkSum& work : own.work) {
    const Peers peers = peers_of(work, others);
    const double sum = static_cast<double>(work.sum_ns), count = static_cast<double>(work.count);
    const double slower = peers.any ? sum - count * peers.mean_ns : 0;
    const double more = sum - slower - static_cast<double>(peers.count) * (peers.any ? peers.mean_ns : 0);
    const auto tell = [&](LateCause cause, double ns) {
      auto& most = result.most[cause];
      if (most.second.count == 0 || ns > most.first) {
        most = {ns, work};
        result.peers[cause] = peers;
      }
    };
    if (!work.computes) {
      tell(LateCause::copy, slower + more);
      continue;
    }
    tell(LateCause::slow_kernels, slower);
    tell(LateCause::more_work, more);
    if (peers.any) {
      slow_ns += slower;
      same_ns += sum;
    }
  }
  if (same_ns > 0) result.slow_share = slow_ns / same_ns;
  return result;
}

// Returns the part of its compute by which the same kernels take longer than on another rank.
double slower_share(const ProcessCalls& own, const ProcessCalls& other) {
  double slow_ns = 0, same_ns = 0;
  auto at = other.work.begin();
  for (const WorkSum& work : own.work) {
    const auto key = std::pair(work.name, work.launch);
    while (at != other.work.end() && std::pair(at->name, at->launch) < key) ++at;
    if (!work.computes || at == other.work.end() || std::pair(at->name, at->launch) != key) continue;
    const double sum_ns = static_cast<double>(work.sum_ns);
    slow_ns +=
        sum_ns - static_cast<double>(work.count) * static_cast<double>(at->sum_ns) / static_cast<double>(at->count);
    same_ns += sum_ns;
  }
  return same_ns > 0 ? slow_ns / same_ns : 0;
}

// Returns the excess of the first rank by cause.
using Parts = std::array<std::int64_t, kLateParts>;

std::int64_t scaled(const Compared& both, std::int64_t ns) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * both.scale);
}

// All causes except slow_kernels, which is a part of more_work here.
Parts parts_of(const Compared& both, bool knows_launches) {
  const GpuAccounts differ = both.own.accounts - both.other.accounts;
  Parts more{};
  more[index(LateCause::host)] = scaled(both, knows_launches ? differ.late_launch_ns : differ.idle_ns);
  more[index(LateCause::more_work)] = scaled(both, differ.compute_ns);
  more[index(LateCause::copy)] = scaled(both, differ.copy_ns);
  more[index(LateCause::other_collective)] = scaled(both, both.own.elsewhere_ns - both.other.elsewhere_ns);
  return more;
}

}  // namespace

LateReasons::LateReasons(const CollectiveCalls& calls, const MatchedCollectives& matched,
                         const std::vector<std::uint32_t>& chosen, std::vector<bool> late)
    : calls_(calls), rows_(rows_of(calls, matched, chosen)), late_(std::move(late)) {}

// Neighbours in each group: as many pairs as ranks, and similar ones if not all ranks of a job do the same.
void LateReasons::find_pairs() {
  std::set<std::pair<ProcessId, ProcessId>> seen;
  for (const LateRows& rows : rows_) {
    for (auto one = rows.begin(); one != rows.end() && std::next(one) != rows.end(); ++one) {
      const auto other = std::next(one);
      const auto both = compare(one->second, other->second);
      if (!both || !seen.insert({one->first, other->first}).second) continue;
      const ProcessCalls &first = calls_.processes[one->first], &second = calls_.processes[other->first];
      Pair pair{one->first, other->first, parts_of(*both, first.knows_launches && second.knows_launches)};
      auto& slow_ns = pair.more[index(LateCause::slow_kernels)];
      slow_ns = static_cast<std::int64_t>(slower_share(first, second) *
                                          static_cast<double>(scaled(*both, both->own.accounts.compute_ns)));
      pair.more[index(LateCause::more_work)] -= slow_ns;
      pairs_.push_back(pair);
    }
  }
}

double LateReasons::noise_ns(LateCause cause) {
  if (pairs_.empty()) find_pairs();
  std::vector<std::int64_t> differences;
  for (const Pair& each : pairs_) {
    if (!late_[each.one] && !late_[each.other]) differences.push_back(each.more[index(cause)]);
  }
  return deviation(std::move(differences));
}

// Returns the other group in whose collectives the rank was longest; this group if it is in no other.
std::uint32_t LateReasons::longest_elsewhere(ProcessId rank, std::uint32_t group) const {
  std::optional<std::int64_t> most_ns;
  std::uint32_t longest = group;
  for (std::uint32_t each = 0; each < rows_.size(); ++each) {
    const auto row = rows_[each].find(rank);
    if (each == group || row == rows_[each].end()) continue;
    std::int64_t exposed_ns = 0;
    for (const CollectiveCall* call : row->second) exposed_ns += call != nullptr ? call->exposed_ns : 0;
    if (most_ns && exposed_ns <= *most_ns) continue;
    most_ns = exposed_ns;
    longest = each;
  }
  return longest;
}

std::string_view cause_name(LateCause cause) {
  constexpr std::string_view kNames[] = {"host", "slow_kernels", "more_work", "copy", "other_collective", "unknown",
                                         ""};
  return kNames[index(cause)];
}

LateReason LateReasons::of(ProcessId rank, std::uint32_t group, std::int64_t late_ns) {
  LateReason reason;
  reason.cause = LateCause::unknown;
  reason.group = group;
  reason.late_ns = late_ns;
  const LateRows& rows = rows_[group];
  const auto own = rows.find(rank);
  if (own == rows.end()) return reason;
  std::vector<const ProcessCalls*> others;
  std::array<std::vector<std::int64_t>, kLateParts> more;
  std::vector<std::int64_t> computed, idle, waited;
  const bool knows_launches = calls_.processes[rank].knows_launches;
  const bool has_good = std::ranges::any_of(rows, [&](const auto& each) { return !late_[each.first]; });
  for (const auto& [process, row] : rows) {
    if (process == rank || (has_good && late_[process])) continue;
    const auto both = compare(own->second, row);
    if (!both) continue;
    others.push_back(&calls_.processes[process]);
    const Parts parts = parts_of(*both, knows_launches);
    for (std::size_t i = 0; i < kLateParts; ++i) more[i].push_back(parts[i]);
    const GpuAccounts differ = both->own.accounts - both->other.accounts;
    idle.push_back(scaled(*both, differ.idle_ns));
    waited.push_back(scaled(*both, both->own.elsewhere_ns - both->other.elsewhere_ns - differ.communication_ns));
    computed.push_back(scaled(*both, both->own.accounts.compute_ns));
  }
  if (others.empty()) return reason;
  for (std::size_t i = 0; i < kLateParts; ++i) reason.more_ns[i] = median(more[i]);
  const Work work = compare_work(calls_.processes[rank], others);
  auto& slow_ns = reason.more_ns[index(LateCause::slow_kernels)];
  slow_ns = static_cast<std::int64_t>(work.slow_share * static_cast<double>(median(computed)));
  reason.more_ns[index(LateCause::more_work)] -= slow_ns;
  reason.idle_ns = median(idle);
  reason.knows_launches = knows_launches;

  // If a rank may be late because of another group, everything that may be noise is ignored.
  reason.waited_in = longest_elsewhere(rank, group);
  const bool has_others = reason.waited_in != group;
  const std::int64_t to_explain_ns = std::clamp(median(waited), late_ns / kLeastWaited, late_ns);
  // The median of this number of others has noise of its own.
  const double noises = std::sqrt(1 + kMedianVariance / static_cast<double>(others.size()));
  const auto explains = [&](std::int64_t ns, LateCause cause) {
    if (ns <= 0 || ns * kLeastPart < to_explain_ns) return false;
    return !has_others ||
           (ns * kLeastOfLate >= late_ns && static_cast<double>(ns) >= kNoiseDeviations * noises * noise_ns(cause));
  };
  reason.proven = !has_others;
  std::int64_t most_ns = 0;
  for (const LateCause cause : {LateCause::host, LateCause::slow_kernels, LateCause::more_work, LateCause::copy}) {
    const std::int64_t ns = reason.more_ns[index(cause)];
    if (ns > most_ns && explains(ns, cause)) {
      most_ns = ns;
      reason.cause = cause;
      reason.proven = true;
    }
  }
  // The rank may also wait in another group.
  if (!reason.proven && reason.more_ns[index(LateCause::other_collective)] * kLeastPart >= to_explain_ns)
    reason.cause = LateCause::other_collective;
  if (const auto found = work.most.find(reason.cause); found != work.most.end()) {
    const Peers& peers = work.peers.at(reason.cause);
    reason.work = found->second.second;
    reason.others_count = peers.count;
    reason.others_mean_ns = peers.mean_ns;
  }
  return reason;
}

}  // namespace cli
