#include "cli/timeline/collectives/align_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "cli/timeline/collectives/statistics.h"

namespace cli {
namespace {

constexpr std::size_t kFewestPairs = 8;  // fewer pairs may fit by chance
constexpr std::size_t kMostShifts = 1 << 16;
constexpr double kNearlyAll = 0.95;
constexpr const char* kTooMany = "too many similar shifts to compare them all";
constexpr std::size_t kLaneParts = 4, kLeastLanePart = kFewestPairs;  // parts of a lane that are fitted separately
// Number of pairs per shift, evenly spread, in the first round; the best shifts are compared with more, the best of
// these with all.
struct Round {
  std::size_t pairs, best;
};
constexpr Round kRounds[] = {{5, kMostShifts}, {32, 1024}, {256, 16}};

struct Pair {
  double at_ns;         // time on the first lane's clock, since its first call
  double lo_ns, hi_ns;  // bounds of the offset
  double end_ns;        // offset according to the ends
};

// The compared data of a call, relative to the lane's first one.
struct Timed {
  std::int64_t position;
  double start_ns, end_ns;
  WhatId what;
  bool binds;  // the operation binds and the times are known
};

class Fitter {
 public:
  explicit Fitter(const LanePair& lanes)
      : whats_(lanes.whats),
        same_clock_(lanes.same_clock),
        origin_a_(first_time(lanes.a)),
        origin_b_(first_time(lanes.b)),
        a_(timed(lanes.a, origin_a_)),
        b_(timed(lanes.b, origin_b_)) {
    if (!same_clock_) return;
    const auto zero = static_cast<double>(origin_b_ - origin_a_);
    least_ = zero - kTimestampError_ns;
    most_ = zero + kTimestampError_ns;
  }

  LaneFit at(std::int64_t shift) {
    LaneFit fit;
    fit.shift = shift;
    pairs_.clear();
    auto a = a_.begin();
    for (const Timed& b : b_) {
      while (a != a_.end() && a->position < b.position + shift) ++a;
      if (a == a_.end()) break;
      if (a->position != b.position + shift) continue;
      ++fit.pairs;
      if (can_be_same_what(a->what, b.what)) {
        if (a->binds && b.binds) add_pair(*a, b);
      } else if (!std::exchange(fit.differs, true)) {
        fit.why = fmt::format("call {} is {} on one rank and {} on the other", fit.pairs, what_text(whats_[a->what]),
                              what_text(whats_[b.what]));
      }
    }
    judge(fit);
    return fit;
  }

  // Returns the deviation of the ends of `most` pairs, evenly spread; 0 if they are too few for an estimate; infinite
  // if they show that the shift is impossible, or if there are fewer than `fewest`. Adds the number of pairs examined
  // to `looked`.
  double rough(std::int64_t shift, std::size_t most, std::size_t fewest, std::size_t& looked) {
    pairs_.clear();
    const auto [from, to] = common(shift);
    const auto count = static_cast<std::size_t>(to - from);
    if (count < fewest) return INFINITY;
    const std::size_t samples = std::min(count, most);
    const double apart = samples < count ? static_cast<double>(count - 1) / static_cast<double>(samples - 1) : 1;
    double lo = least_, hi = most_, first = INFINITY, last = -INFINITY;
    for (std::size_t i = 0; i < samples; ++i) {
      ++looked;
      const Timed& b = from[static_cast<std::ptrdiff_t>(static_cast<double>(i) * apart)];
      const Timed* const a = find(a_, b.position + shift);
      if (a == end_of(a_) || a->position != b.position + shift) continue;
      if (!can_be_same_what(a->what, b.what)) return INFINITY;
      if (!a->binds || !b.binds) continue;
      lo = std::max(lo, a->start_ns - b.end_ns);
      hi = std::min(hi, a->end_ns - b.start_ns);
      first = std::min(first, a->end_ns);
      last = std::max(last, a->end_ns);
      if (hi - lo < -kTimestampError_ns - (same_clock_ ? 0 : kMostDrift * (last - first))) return INFINITY;
      add_pair(*a, b);
    }
    if (samples < count && samples < kPairsForDrift) return 0;
    const double drift = best_drift();
    if (pairs_.empty() || width(drift) < -kTimestampError_ns - (same_clock_ ? 0 : kMostDrift * (last - first)))
      return INFINITY;
    return spread(ends(drift)).second;
  }

  bool any_binds() const { return std::ranges::any_of(a_, &Timed::binds) && std::ranges::any_of(b_, &Timed::binds); }

 private:
  using Calls = std::vector<Timed>;

  Calls timed(const CollectiveLane& lane, std::int64_t origin) const {
    Calls calls;
    calls.reserve(lane.calls.size());
    for (const CollectiveCall& call : lane.calls) {
      const bool is_known = binds(call, whats_);
      calls.push_back({call.position, is_known ? static_cast<double>(call.gpu_start_ns - origin) : 0,
                       is_known ? static_cast<double>(call.gpu_end_ns - origin) : 0, call.what, is_known});
    }
    return calls;
  }

  static const Timed* end_of(const Calls& calls) { return calls.data() + calls.size(); }

  // Returns the first call at or after the position. Most lanes have no gaps.
  static const Timed* find(const Calls& calls, std::int64_t position) {
    const std::int64_t at = position - calls.front().position;
    if (at <= 0) return calls.data();
    if (at < std::ssize(calls) && calls[static_cast<std::size_t>(at)].position == position) return calls.data() + at;
    if (position > calls.back().position) return end_of(calls);
    return std::ranges::lower_bound(calls.data(), end_of(calls), position, {}, &Timed::position);
  }

  // Returns the calls of the second lane within the first one.
  std::pair<const Timed*, const Timed*> common(std::int64_t shift) const {
    const Timed* const first = find(b_, a_.front().position - shift);
    return {first, std::max(first, find(b_, a_.back().position - shift + 1))};
  }

  bool can_be_same_what(WhatId a, WhatId b) const { return a == b || can_be_same(whats_[a], whats_[b]); }

  void add_pair(const Timed& a, const Timed& b) {
    pairs_.push_back({a.end_ns, a.start_ns - b.end_ns, a.end_ns - b.start_ns, a.end_ns - b.end_ns});
  }

  // Returns the common width of the intervals after removing a drift.
  double width(double drift) const {
    double lo = least_, hi = most_;
    for (const Pair& pair : pairs_) {
      lo = std::max(lo, pair.lo_ns - drift * pair.at_ns);
      hi = std::min(hi, pair.hi_ns - drift * pair.at_ns);
    }
    return hi - lo;
  }

  // Returns 0 if no drift increases the common width.
  double best_drift() {
    if (same_clock_ || pairs_.size() < kPairsForDrift) return 0;
    const double found = std::clamp(slope(), -kMostDrift, kMostDrift);
    return width(found) > width(0) ? found : 0;
  }

  std::vector<double>& ends(double drift) {
    values_.clear();
    for (const Pair& pair : pairs_) values_.push_back(pair.end_ns - drift * pair.at_ns);
    return values_;
  }

  void judge(LaneFit& fit) {
    fit.binding = pairs_.size();
    if (fit.pairs == 0) {
      fit.why = "no calls in common";
      return;
    }
    const double drift = best_drift();
    fit.width_ns = width(drift);
    fit.drift_ppm = drift * 1e6;
    std::tie(fit.offset_ns, fit.mad_ns) = spread(ends(drift));
    fit.offset_ns += static_cast<double>(origin_a_ - origin_b_);
    if (fit.differs) return;
    const char* const clocks = same_clock_ ? "although they have the same clock" : "whatever the offset of the clocks";
    if (fit.width_ns < -kTimestampError_ns) {
      fit.why =
          fmt::format("some of {} pairs would have ended on one rank {:.0f} us before they began on the other, {}",
                      pairs_.size(), -fit.width_ns / 1e3, clocks);
      return;
    }
    if (const double most = quantile(values_, kNearlyAll); fit.mad_ns > kTypicalSpread_ns || most > kMostSpread_ns) {
      fit.why = fmt::format("the ends of {} pairs differ by {:.0f} us in the median and by up to {:.0f} us, {}",
                            pairs_.size(), fit.mad_ns / 1e3, most / 1e3, clocks);
      return;
    }
    fit.possible = true;
  }

  // Returns the median slope of the ends between each pair and the one half of all pairs later.
  double slope() {
    values_.clear();
    const std::size_t half = pairs_.size() / 2;
    for (std::size_t i = 0; i + half < pairs_.size(); ++i) {
      const double apart = pairs_[i + half].at_ns - pairs_[i].at_ns;
      if (apart > 0) values_.push_back((pairs_[i + half].end_ns - pairs_[i].end_ns) / apart);
    }
    return quantile(values_, 0.5);
  }

  const Interned<CollectiveWhat>& whats_;
  bool same_clock_;
  std::int64_t origin_a_, origin_b_;
  Calls a_, b_;
  double least_ = -INFINITY, most_ = INFINITY;  // bounds of the offset of b's first call to a's
  std::vector<Pair> pairs_;                     // pairs that bind
  std::vector<double> values_;                  // scratch space
};

// Returns the shifts at which both lanes may have `fewest` calls in common: first those with near first or last calls.
std::vector<std::int64_t> shifts_of(const CollectiveLane& a, const CollectiveLane& b, std::size_t fewest) {
  const std::int64_t step = std::max(a.ordinal_step, b.ordinal_step);
  const auto inside = static_cast<std::int64_t>(fewest) - 1;
  const std::int64_t first = a.calls.front().position - b.calls.back().position + inside;
  const std::int64_t last = a.calls.back().position - b.calls.front().position - inside;
  const std::int64_t at_end = (a.calls.back().position - b.calls.back().position) / step * step;
  const auto reach = static_cast<std::int64_t>(kMostShifts / 4) * step;
  // The next multiple of the step
  const auto not_below = [step](std::int64_t value) { return value - value % step + (value % step > 0 ? step : 0); };
  std::vector<std::int64_t> shifts;
  for (std::int64_t shift = not_below(std::max(-reach, first)); shift <= std::min(reach, last); shift += step)
    shifts.push_back(shift);
  for (std::int64_t shift = not_below(std::max(at_end - reach, first)); shift <= std::min(at_end + reach, last);
       shift += step) {
    if (shift < -reach || shift > reach) shifts.push_back(shift);
  }
  return shifts;
}

// Returns the shifts with the closest ends according to samples; none if the budget is exhausted.
std::vector<std::int64_t> best_shifts(Fitter& fitter, std::vector<std::int64_t> shifts, std::size_t fewest,
                                      FitBudget& budget) {
  for (const Round& round : kRounds) {
    std::vector<std::pair<double, std::int64_t>> rated;
    for (const std::int64_t shift : shifts) {
      std::size_t looked = 1;
      const double mad_ns = fitter.rough(shift, round.pairs, fewest, looked);
      if (mad_ns < INFINITY) rated.emplace_back(mad_ns, shift);
      budget.pairs -= std::min(budget.pairs, looked);
      if (budget.pairs == 0) return {};
    }
    if (rated.size() > round.best) {
      std::nth_element(rated.begin(), rated.begin() + static_cast<std::ptrdiff_t>(round.best), rated.end());
      rated.resize(round.best);
    }
    shifts.clear();
    for (const auto& [mad_ns, shift] : rated) shifts.push_back(shift);
  }
  return shifts;
}

// Returns true if equal positions are the same call because nothing is missing before them.
bool are_counted_alike(const LanePair& lanes) {
  return lanes.a.numbering == Numbering::counted && lanes.a.whole_beginning && lanes.b.whole_beginning;
}

// Returns the possible shifts, the best one first.
std::vector<LaneFit> possible_fits(Fitter& fitter, const std::vector<std::int64_t>& shifts, std::size_t fewest,
                                   FitBudget& budget) {
  std::vector<LaneFit> found;
  for (const std::int64_t shift : best_shifts(fitter, shifts, fewest, budget)) {
    LaneFit fit = fitter.at(shift);
    budget.pairs -= std::min(budget.pairs, fit.pairs);
    if (fit.possible && fit.pairs >= fewest && fit.binding >= kFewestPairs) found.push_back(std::move(fit));
  }
  std::ranges::stable_sort(found, {}, &LaneFit::mad_ns);
  return found;
}

// If the steps of a run are very similar, a call lost on one side may hide the right shift, and a wrong one may fit as
// a whole. A part without the loss then fits clearly better at another shift, or most parts fit equally well at others.
bool may_hide_another(const LanePair& lanes, FitBudget& budget, const LaneFit& fit) {
  const std::vector<PartFit> parts = fit_parts(lanes, budget);
  std::size_t others = 0;
  for (auto each = parts.begin(); each != parts.end();) {
    const auto next = std::find_if(each, parts.end(), [&](const PartFit& other) { return other.first != each->first; });
    if (std::none_of(each, next, [&](const PartFit& one) { return one.fit.shift == fit.shift; })) return true;
    others += each->fit.shift != fit.shift;
    each = next;
  }
  return 2 * others >= kLaneParts;
}

}  // namespace

LaneFit fit_at(const LanePair& lanes, std::int64_t shift) { return Fitter(lanes).at(shift); }

LaneFit fit_part(const LanePair& lanes, FitBudget& budget) {
  const auto& [a, b, whats, same_clock] = lanes;
  LaneFit best;
  if (a.calls.empty() || b.calls.empty()) return best;
  if (budget.pairs == 0) {
    best.why = kTooMany;
    return best;
  }
  Fitter fitter(lanes);
  if (are_counted_alike(lanes)) {
    best = fitter.at(0);
    budget.pairs -= std::min(budget.pairs, best.pairs);
    if (!best.possible) best.why = "if the first calls are the same, " + best.why;
    return best;
  }
  if (!fitter.any_binds()) {
    best.why = "calls without a number prove nothing if ranks can end them before others begin";
    return best;
  }
  const std::size_t fewest = std::max(kFewestPairs, (std::min(a.calls.size(), b.calls.size()) + 1) / 2);
  if (std::min(a.calls.size(), b.calls.size()) < fewest) {
    best.why = fmt::format("fewer than {} calls without a number, too few to prove anything", fewest);
    return best;
  }
  const auto shifts = shifts_of(a, b, fewest);
  const std::vector<LaneFit> possible = possible_fits(fitter, shifts, fewest, budget);
  if (possible.empty()) {
    if (budget.pairs == 0) {
      best.why = kTooMany;
      return best;
    }
    best.shifts = shifts.size();
    return best;
  }
  best = possible[0];
  if (possible.size() > 1 && !is_clearly_better(best.mad_ns, possible[1].mad_ns)) {
    best.possible = false;
    best.alike = true;
    best.why = fmt::format("shifts of {} and {} are equally possible: ends differ by {:.1f} and {:.1f} us", best.shift,
                           possible[1].shift, best.mad_ns / 1e3, possible[1].mad_ns / 1e3);
  }
  return best;
}

std::vector<PartFit> fit_parts(const LanePair& lanes, FitBudget& budget) {
  const auto& [a, b, whats, same_clock] = lanes;
  std::vector<PartFit> found;
  const std::size_t length = std::max(kLeastLanePart, b.calls.size() / kLaneParts);
  if (b.calls.size() < length || a.calls.size() < length) return found;
  for (std::size_t part = 0; part < kLaneParts && budget.pairs > 0; ++part) {
    const std::size_t first = (b.calls.size() - length) * part / (kLaneParts - 1);
    CollectiveLane some = b;
    some.calls.assign(b.calls.begin() + static_cast<std::ptrdiff_t>(first),
                      b.calls.begin() + static_cast<std::ptrdiff_t>(first + length));
    Fitter fitter({a, some, whats, same_clock});
    const std::size_t fewest = std::max(kFewestPairs, (length + 1) / 2);
    const std::vector<LaneFit> possible = possible_fits(fitter, shifts_of(a, some, fewest), fewest, budget);
    for (const LaneFit& each : possible) {
      if (!is_clearly_better(possible[0].mad_ns, each.mad_ns)) found.push_back({first, length, each});
    }
  }
  return found;
}

LaneFit fit_lanes(const LanePair& lanes, FitBudget& budget) {
  LaneFit fit = fit_part(lanes, budget);
  if (!fit.possible || lanes.same_clock || are_counted_alike(lanes) || !may_hide_another(lanes, budget, fit))
    return fit;
  fit.possible = false;
  fit.alike = true;
  fit.why = fmt::format("a shift of {} is possible, but parts fit other shifts, and a lost call may hide the right one",
                        fit.shift);
  return fit;
}

std::string why_not(const LanePair& lanes, const LaneFit& fit) {
  constexpr const char* kTooFew = "too few calls are in common";
  if (fit.shifts == 0) return fit.why.empty() ? kTooFew : fit.why;
  const LaneFit last = fit_at(lanes, lanes.a.calls.back().position - lanes.b.calls.back().position);
  return fmt::format("none of {} shifts is possible; if the last calls are the same, {}", fit.shifts,
                     last.why.empty() ? kTooFew : last.why);
}

bool proves(const LaneFit& fit) { return fit.possible && fit.binding >= kFewestPairs; }

bool is_clearly_better(double mad_ns, double other_ns) {
  return mad_ns * kClearlyBetter <= other_ns && mad_ns < other_ns;
}

std::int64_t first_time(const CollectiveLane& lane) {
  for (const CollectiveCall& call : lane.calls) {
    if (call.gpu_start_ns != kNoTime) return call.gpu_start_ns;
  }
  return 0;
}

std::string what_text(const CollectiveWhat& what) {
  std::string text(operation_name(what.operation));
  const std::int64_t bytes = what.message_bytes >= 0 ? what.message_bytes : what.buffer_bytes;
  if (bytes >= 0) text += fmt::format(" of {} bytes", bytes);
  if (what.root >= 0) text += fmt::format(" with root {}", what.root);
  if (what.reduction >= 0) text += fmt::format(" by reduction {}", what.reduction);
  return text;
}

}  // namespace cli
