#include "cli/timeline/collectives/lane_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "cli/timeline/collectives/align_lanes.h"
#include "cli/timeline/collectives/statistics.h"

namespace cli {
namespace {

// Binary logarithm of the required odds: eight pairs of calls (the fewest that prove a shift), each with a chance of
// one in four. A call with more evidence counts more.
constexpr double kProof_bits = 16;
constexpr double kLeastNoise_ns = 1000;  // profiles of older PyTorch have times in whole microseconds
constexpr std::size_t kFewestCalls = 3;  // a single coincidence is no proof, however late a rank was

using Indices = std::vector<std::size_t>;

// Returns the evidence of a call in which starts differ by `apart` and ends by `error` from their usual distance: the
// logarithm of the ratio of its likelihood in one group, whose ends have the given noise, to that in several groups,
// whose ends are as far apart as starts. Both are assumed to be distributed as scale / (x + scale)^2, which has a heavy
// tail, because ends of large messages are further apart than those of small ones.
double bits(double apart_ns, double error_ns, double noise_ns) {
  if (apart_ns < kClearlyBetter * noise_ns) return 0;
  return std::log2(noise_ns / apart_ns) + 2 * std::log2((apart_ns + error_ns) / (noise_ns + error_ns));
}

struct Evidence {
  double all = 0;
  std::size_t calls = 0;  // number of calls that support it
  void add(double some) {
    all += some;
    calls += some > 0;
  }
  bool proves() const { return all >= kProof_bits && calls >= kFewestCalls; }
};

// Compares two lanes by their common calls.
class Pairs {
 public:
  explicit Pairs(const std::vector<LaneTimes>& lanes) : lanes_(lanes) {}

  // Returns true if the calls with different starts prove that the lanes are of one communicator.
  bool support(std::size_t a, std::size_t b) {
    load(a, b);
    if (at_.size() < kFewestCalls) return false;
    const bool one_clock = lanes_[a].has_known_clock && lanes_[b].has_known_clock;
    const RobustLine line = one_clock ? RobustLine{} : line_of_ends();
    rest_.clear();
    for (std::size_t i = 0; i < at_.size(); ++i) {
      starts_[i] -= line.slope * at_[i];
      rest_.push_back(std::abs(ends_[i] - line.value(at_[i])));
    }
    const double noise = std::max(quantile(rest_, 0.5), kLeastNoise_ns);
    rest_ = starts_;
    // If a clock is known only from these ends, the usual distance of starts is unknown.
    const double usual = one_clock ? 0 : quantile(rest_, 0.5);
    Evidence found;
    for (std::size_t i = 0; i < at_.size(); ++i)
      found.add(bits(std::abs(starts_[i] - usual), std::abs(ends_[i] - line.value(at_[i])), noise));
    return found.proves();
  }

  // Returns the median distance of their ends from a line; infinite if they have too few common calls.
  double distance(std::size_t a, std::size_t b) {
    load(a, b);
    return at_.size() < kFewestCalls ? INFINITY : line_of_ends().mad;
  }

 private:
  void load(std::size_t a, std::size_t b) {
    at_.clear(), ends_.clear(), starts_.clear();
    const LaneTimes &one = lanes_[a], &other = lanes_[b];
    for (std::size_t i = 0; i < one.end_ns.size(); ++i) {
      if (std::isnan(one.end_ns[i]) || std::isnan(other.end_ns[i])) continue;
      at_.push_back(one.end_ns[i]);
      ends_.push_back(one.end_ns[i] - other.end_ns[i]);
      starts_.push_back(one.start_ns[i] - other.start_ns[i]);
    }
  }
  RobustLine line_of_ends() const { return robust_line(at_, ends_, at_.size() >= kPairsForDrift ? kMostDrift : 0); }

  const std::vector<LaneTimes>& lanes_;
  std::vector<double> at_, ends_, starts_, rest_;
};

class Grouper {
 public:
  explicit Grouper(const std::vector<LaneTimes>& lanes) : lanes_(lanes), pairs_(lanes) {}

  LaneGrouping group() {
    Indices part = connected();
    LaneGrouping found{{0}, {}, {}};
    while (part.size() > 1) {
      if (!is_impossible(part) && is_one(part)) {
        found.members = part;
        return found;
      }
      Indices nearer = divided(part);
      if (nearer.empty()) {
        found.together = part;
        found.apart = other_division(part);
        return found;
      }
      part = std::move(nearer);
    }
    return found;
  }

 private:
  // Returns the lanes that pairs connect with the first lane.
  Indices connected() {
    Indices found{0};
    std::vector<bool> is_in(lanes_.size());
    is_in[0] = true;
    for (std::size_t at = 0; at < found.size(); ++at) {
      for (std::size_t other = 1; other < lanes_.size(); ++other) {
        const LaneTimes &one = lanes_[found[at]], &each = lanes_[other];
        if (is_in[other] || each.is_witness || each.process == one.process) continue;
        const bool has_both = one.name != 0 && each.name != 0;
        if (has_both ? one.name != each.name : !pairs_.support(found[at], other)) continue;
        is_in[other] = true;
        found.push_back(other);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // Returns true if they cannot be a group: two lanes are of one process, or they have several names.
  bool is_impossible(const Indices& some) const {
    std::set<ProcessId> processes;
    std::set<std::uint32_t> names;
    for (const std::size_t each : some) {
      processes.insert(lanes_[each].process);
      if (lanes_[each].name != 0) names.insert(lanes_[each].name);
    }
    return processes.size() < some.size() || names.size() > 1;
  }

  // Returns the calls of the sequence that all of them have.
  Indices shared(const Indices& some) const {
    Indices calls;
    for (std::size_t i = 0; i < lanes_[0].end_ns.size(); ++i) {
      if (std::none_of(some.begin(), some.end(), [&](std::size_t each) { return std::isnan(lanes_[each].end_ns[i]); }))
        calls.push_back(i);
    }
    return calls;
  }

  // Times of some lanes on a common axis, in some calls of the sequence: [lane][call].
  struct OnAxis {
    std::vector<std::vector<double>> starts, ends;  // relative to the median of their ends
  };
  OnAxis on_axis_of(const Indices& some, const Indices& calls, bool one_clock) const {
    OnAxis found{std::vector<std::vector<double>>(lanes_.size()), std::vector<std::vector<double>>(lanes_.size())};
    std::vector<double> middle(calls.size()), values, at;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      values.clear();
      for (const std::size_t each : some) values.push_back(lanes_[each].end_ns[calls[i]]);
      middle[i] = quantile(values, 0.5);
    }
    for (std::size_t k = 0; k < lanes_.size(); ++k) {
      values.clear(), at.clear();
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (std::isnan(lanes_[k].end_ns[calls[i]])) continue;
        values.push_back(lanes_[k].end_ns[calls[i]] - middle[i]);
        at.push_back(middle[i]);
      }
      const RobustLine line = one_clock && lanes_[k].has_known_clock
                                  ? RobustLine{}
                                  : robust_line(at, values, at.size() >= kPairsForDrift ? kMostDrift : 0);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        found.ends[k].push_back(lanes_[k].end_ns[calls[i]] - middle[i] - line.value(middle[i]));
        found.starts[k].push_back(lanes_[k].start_ns[calls[i]] - middle[i] - line.value(middle[i]));
      }
    }
    return found;
  }

  // Returns true if all are one group: one rank alone was late often enough, and all ended together.
  bool is_one(const Indices& some) const {
    const Indices calls = shared(some);
    if (calls.size() < kFewestCalls) return false;
    const bool one_clock = std::ranges::all_of(some, [&](std::size_t each) { return lanes_[each].has_known_clock; });
    const OnAxis on_axis = on_axis_of(some, calls, one_clock);
    std::vector<double> errors(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (const std::size_t k : some) errors[i] = std::max(errors[i], std::abs(on_axis.ends[k][i]));
    }
    std::vector<double> values = errors;
    const double noise = std::max(quantile(values, 0.5), kLeastNoise_ns);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      double last_start = -INFINITY, first_end = INFINITY;
      for (const std::size_t k : some)
        last_start = std::max(last_start, on_axis.starts[k][i]), first_end = std::min(first_end, on_axis.ends[k][i]);
      if (last_start > first_end + std::max(kTimestampError_ns, kClearlyBetter * noise)) return false;
    }
    // The delay of the last lane after all others, and its index. The others are all lanes that ended at this moment.
    std::vector<double> leads(calls.size());
    Indices last(calls.size());
    std::vector<bool> is_in(lanes_.size());
    for (const std::size_t each : some) is_in[each] = true;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      double latest = -INFINITY, next = -INFINITY;
      for (const std::size_t k : some) {
        if (on_axis.starts[k][i] > latest) {
          next = latest, latest = on_axis.starts[k][i], last[i] = k;
        } else {
          next = std::max(next, on_axis.starts[k][i]);
        }
      }
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        if (!is_in[k] && std::abs(on_axis.ends[k][i]) <= kClearlyBetter * noise)
          next = std::max(next, on_axis.starts[k][i]);
      }
      leads[i] = latest - next;
    }
    // If clocks are known only from these ends, they may hide a constant delay between two groups. Then only changes
    // are evidence: delays that differ from the usual one, or each rank being the late one.
    values = leads;
    const double usual = one_clock ? 0 : quantile(values, 0.5);
    Evidence changes;
    std::vector<Evidence> turns(lanes_.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (leads[i] < kClearlyBetter * noise) continue;
      changes.add(bits(std::abs(leads[i] - usual), errors[i], noise));
      turns[last[i]].add(bits(leads[i], errors[i], noise));
    }
    return changes.proves() || std::ranges::all_of(some, [&](std::size_t each) { return turns[each].proves(); });
  }

  // Returns the lanes whose ends agree with the first lane's clearly better than the others' do; empty if there are
  // none.
  Indices divided(const Indices& some) {
    // Each lane is connected to the nearest earlier one (Prim's algorithm). These distances are those at which groups
    // join.
    std::vector<double> nearest(some.size(), INFINITY);
    std::vector<bool> is_in(some.size());
    std::vector<double> heights;
    std::vector<std::vector<double>> apart(some.size(), std::vector<double>(some.size(), INFINITY));
    for (std::size_t i = 0; i < some.size(); ++i) {
      for (std::size_t k = i + 1; k < some.size(); ++k) {
        if (lanes_[some[i]].process != lanes_[some[k]].process)
          apart[i][k] = apart[k][i] = pairs_.distance(some[i], some[k]);
      }
    }
    std::size_t last = 0;
    for (std::size_t round = 1; round < some.size(); ++round) {
      is_in[last] = true;
      std::size_t next = some.size();
      for (std::size_t k = 0; k < some.size(); ++k) {
        if (is_in[k]) continue;
        nearest[k] = std::min(nearest[k], apart[last][k]);
        if (next == some.size() || nearest[k] < nearest[next]) next = k;
      }
      heights.push_back(nearest[next]);
      last = next;
    }
    std::sort(heights.begin(), heights.end());
    double most = 0, at = 0;
    for (std::size_t i = 0; i + 1 < heights.size(); ++i) {
      const double below = std::max(heights[i], kLeastNoise_ns);
      if (is_clearly_better(below, heights[i + 1]) && heights[i + 1] / below > most)
        most = heights[i + 1] / below, at = heights[i];
    }
    if (most == 0) return {};
    std::vector<bool> near(some.size());
    Indices order{0};
    near[0] = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t k = 0; k < some.size(); ++k) {
        if (!near[k] && apart[order[i]][k] <= at) near[k] = true, order.push_back(k);
      }
    }
    Indices found;
    for (std::size_t k = 0; k < some.size(); ++k) {
      if (near[k]) found.push_back(some[k]);
    }
    return found;
  }

  // Returns the first lane's part in another possible grouping: the ranks that are late together are separate, and each
  // other rank is with the one whose ends are most similar.
  Indices other_division(const Indices& some) {
    const Indices calls = shared(some);
    // The two that were last most often.
    Indices times(some.size()), order(some.size());
    for (const std::size_t call : calls) {
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::partial_sort(order.begin(), order.begin() + 2, order.end(), [&](std::size_t a, std::size_t b) {
        return lanes_[some[a]].start_ns[call] > lanes_[some[b]].start_ns[call];
      });
      ++times[order[0]], ++times[order[1]];
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
    const std::size_t one = order[0], other = order[1];
    Indices with_one, with_other;
    for (std::size_t k = 0; k < some.size(); ++k) {
      const bool is_one =
          k == one || (k != other && pairs_.distance(some[k], some[one]) <= pairs_.distance(some[k], some[other]));
      (is_one ? with_one : with_other).push_back(some[k]);
    }
    return with_one.front() == some.front() ? with_one : with_other;
  }

  const std::vector<LaneTimes>& lanes_;
  Pairs pairs_;
};

}  // namespace

LaneGrouping group_of_first(const std::vector<LaneTimes>& lanes) { return Grouper(lanes).group(); }

}  // namespace cli
