#include "cli/collectives/align_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace cli {
namespace {

constexpr std::size_t kFewestPairs = 8;          // fewer prove nothing: they fit by chance
constexpr double kMostDrift = 200e-6;            // of two clocks; crystals of computers stay below 100 ppm each
constexpr double kTimestampError_ns = 5'000;     // of the GPU's times on the host's clock
constexpr std::size_t kMostShifts = 1 << 16;
constexpr double kClearlyBetter = 4;             // of two possible shifts: so much smaller is the deviation of the ends
constexpr std::size_t kPairsForDrift = 16;
// How far ends of a collective lie apart on ranks whose clocks are the same, at most: the median, and nearly all of them. Where
// ranks wait long, causality alone allows much.
constexpr double kTypicalSpread_ns = 100'000, kMostSpread_ns = 500'000;
constexpr double kNearlyAll = 0.95;

struct Pair {
  double at_ns;       // when, on the first lane's clock, since its first call
  double lo_ns, hi_ns;  // between which the offset lies; infinite where nothing follows
  double end_ns;      // what the ends say of it
};

// Of unknown operations the safe thing is assumed: what they do not obey is refused.
bool binds(Operation operation) {
  return all_depend_on_all(operation) || operation == Operation::unknown || operation == Operation::send_receive;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(static_cast<double>(values.size()) * share));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

class Fitter {
 public:
  Fitter(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock)
      : a_(a), b_(b), whats_(whats), origin_a_(first_time(a)), origin_b_(first_time(b)) {
    if (!same_clock) return;
    const auto zero = static_cast<double>(origin_b_ - origin_a_);
    least_ = zero - kTimestampError_ns, most_ = zero + kTimestampError_ns;
  }

  // `quick`: stops at the first thing that is impossible.
  LaneFit at(std::int64_t shift, bool quick) {
    LaneFit fit;
    fit.shift = shift;
    pairs_.clear();
    double lo = least_, hi = most_, first = INFINITY, last = -INFINITY;
    auto a = a_.calls.begin();
    for (const CollectiveCall& b : b_.calls) {
      while (a != a_.calls.end() && a->position < b.position + shift) ++a;
      if (a == a_.calls.end()) break;
      if (a->position != b.position + shift) continue;
      ++fit.pairs;
      if (!can_be_same(whats_[a->what], whats_[b.what])) {
        fit.why = fmt::format("number {} of one is {}, where the other has {}", fit.pairs, what_text(whats_[a->what]), what_text(whats_[b.what]));
        return fit;
      }
      if (a->gpu_start_ns == kNoTime || b.gpu_start_ns == kNoTime || a->gpu_end_ns == kNoTime || b.gpu_end_ns == kNoTime) continue;
      const Pair pair = pair_of(*a, b);
      pairs_.push_back(pair);
      lo = std::max(lo, pair.lo_ns), hi = std::min(hi, pair.hi_ns);
      first = std::min(first, pair.at_ns), last = std::max(last, pair.at_ns);
      if (quick && hi - lo < -kTimestampError_ns - kMostDrift * (last - first)) return fit;
    }
    judge(fit);
    return fit;
  }

 private:
  static std::int64_t first_time(const CollectiveLane& lane) {
    for (const CollectiveCall& call : lane.calls) {
      if (call.gpu_start_ns != kNoTime) return call.gpu_start_ns;
    }
    return 0;
  }

  Pair pair_of(const CollectiveCall& a, const CollectiveCall& b) const {
    const auto since = [](std::int64_t ns, std::int64_t origin) { return static_cast<double>(ns - origin); };
    const double a0 = since(a.gpu_start_ns, origin_a_), a1 = since(a.gpu_end_ns, origin_a_);
    const double b0 = since(b.gpu_start_ns, origin_b_), b1 = since(b.gpu_end_ns, origin_b_);
    const bool both = binds(whats_[a.what].operation) && binds(whats_[b.what].operation);
    return {a1, both ? a0 - b1 : -INFINITY, both ? a1 - b0 : INFINITY, a1 - b1};
  }

  // How much the intervals share once a drift is taken away.
  double width(double drift) const {
    double lo = least_, hi = most_;
    for (const Pair& pair : pairs_) {
      lo = std::max(lo, pair.lo_ns - drift * pair.at_ns), hi = std::min(hi, pair.hi_ns - drift * pair.at_ns);
    }
    return hi - lo;
  }

  void judge(LaneFit& fit) {
    if (fit.pairs == 0) {
      fit.why = "no call is common to both";
      return;
    }
    double drift = 0;
    fit.width_ns = width(0);
    if (pairs_.size() >= kPairsForDrift) {
      const double found = std::clamp(slope(), -kMostDrift, kMostDrift);
      if (const double other = width(found); other > fit.width_ns) fit.width_ns = other, drift = found;
    }
    std::vector<double> ends;
    for (const Pair& pair : pairs_) ends.push_back(pair.end_ns - drift * pair.at_ns);
    const double middle = median(ends);
    for (double& end : ends) end = std::abs(end - middle);
    fit.mad_ns = median(ends);
    fit.offset_ns = middle + static_cast<double>(origin_a_ - origin_b_);
    fit.drift_ppm = drift * 1e6;
    if (fit.width_ns < -kTimestampError_ns) {
      fit.why = fmt::format("of {} pairs some would have ended on one rank {:.0f} us before they began on the other, whatever the offset of the clocks",
                            pairs_.size(), -fit.width_ns / 1e3);
      return;
    }
    if (const double most = quantile(ends, kNearlyAll); fit.mad_ns > kTypicalSpread_ns || most > kMostSpread_ns) {
      fit.why = fmt::format("ends of {} pairs lie {:.0f} us apart in the median and up to {:.0f} us, whatever the offset of the clocks", pairs_.size(),
                            fit.mad_ns / 1e3, most / 1e3);
      return;
    }
    fit.possible = true;
  }

  // Of what the ends say over time: each pair with the one half of them later, the median.
  double slope() const {
    std::vector<double> slopes;
    const std::size_t half = pairs_.size() / 2;
    for (std::size_t i = 0; i + half < pairs_.size(); ++i) {
      const double apart = pairs_[i + half].at_ns - pairs_[i].at_ns;
      if (apart > 0) slopes.push_back((pairs_[i + half].end_ns - pairs_[i].end_ns) / apart);
    }
    return median(std::move(slopes));
  }

  const CollectiveLane& a_;
  const CollectiveLane& b_;
  const Interned<CollectiveWhat>& whats_;
  std::int64_t origin_a_, origin_b_;
  double least_ = -INFINITY, most_ = INFINITY;  // of the offset of b's first call to a's
  std::vector<Pair> pairs_;
};

std::vector<std::int64_t> shifts_of(const CollectiveLane& a, const CollectiveLane& b, std::int64_t step) {
  if (a.numbering == Numbering::counted && a.whole_beginning && b.whole_beginning) return {0};
  const std::int64_t first = a.calls.front().position - b.calls.back().position, last = a.calls.back().position - b.calls.front().position;
  const std::int64_t at_end = a.calls.back().position - b.calls.back().position;
  const auto reach = static_cast<std::int64_t>(kMostShifts / 4) * step;
  std::vector<std::int64_t> shifts;
  for (const std::int64_t center : {std::int64_t{0}, at_end - at_end % step}) {
    for (std::int64_t shift = center - reach; shift <= center + reach; shift += step) {
      if (shift >= first && shift <= last) shifts.push_back(shift);
    }
  }
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  return shifts;
}

}  // namespace

LaneFit fit_at(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, std::int64_t shift) {
  return Fitter(a, b, whats, same_clock).at(shift, false);
}

LaneFit fit_lanes(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock) {
  LaneFit best, second;
  if (a.calls.empty() || b.calls.empty()) return best;
  Fitter fitter(a, b, whats, same_clock);
  const auto shifts = shifts_of(a, b, std::max(a.ordinal_step, b.ordinal_step));
  const bool anchored = shifts.size() == 1 && a.whole_beginning && b.whole_beginning;
  const std::size_t fewest = anchored ? 1 : std::max(kFewestPairs, (std::min(a.calls.size(), b.calls.size()) + 1) / 2);
  for (const std::int64_t shift : shifts) {
    LaneFit fit = fitter.at(shift, true);
    if (!fit.possible || fit.pairs < fewest) continue;
    if (!best.possible || fit.mad_ns < best.mad_ns) std::swap(best, fit);
    if (fit.possible && (!second.possible || fit.mad_ns < second.mad_ns)) second = fit;
  }
  if (!best.possible) {
    if (std::min(a.calls.size(), b.calls.size()) < fewest) {
      best.why = fmt::format("fewer than {} calls without a number prove nothing", fewest);
    } else {
      const std::int64_t at_end = a.calls.back().position - b.calls.back().position;
      best = fitter.at(anchored ? 0 : at_end, false);
      best.possible = false;
      if (best.why.empty()) best.why = "too few calls are common to both";
      best.why = fmt::format("no shift of {} is possible; with the {} together {}", shifts.size(), anchored ? "first ones" : "last ones", best.why);
    }
  } else if (second.possible && best.mad_ns * kClearlyBetter > second.mad_ns) {
    best.possible = false;
    best.why = fmt::format("shifts of {} and {} are possible alike, with ends that differ by {:.1f} and {:.1f} us", best.shift, second.shift,
                           best.mad_ns / 1e3, second.mad_ns / 1e3);
  }
  return best;
}

bool proves(const LaneFit& fit) { return fit.possible && fit.pairs >= kFewestPairs; }

std::string what_text(const CollectiveWhat& what) {
  std::string text(operation_name(what.operation));
  const std::int64_t bytes = what.message_bytes >= 0 ? what.message_bytes : what.buffer_bytes;
  if (bytes >= 0) text += fmt::format(" of {} bytes", bytes);
  if (what.root >= 0) text += fmt::format(" with root {}", what.root);
  if (what.reduction >= 0) text += fmt::format(" by reduction {}", what.reduction);
  return text;
}

}  // namespace cli
