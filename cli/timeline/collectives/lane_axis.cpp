#include "cli/timeline/collectives/lane_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/timeline/collectives/statistics.h"

namespace cli {
namespace {

constexpr double kMostError_ns = 125'000;                  // error of a line before any call was paired with it
constexpr std::size_t kAxisParts = 8, kLeastAxisPart = 8;  // parts of a lane that are searched
constexpr std::size_t kFewestKnown = 3;                    // pairs of calls required if clocks are known
constexpr double kMostSkipped = 0.05;                      // share of the pairs

// Tolerance for violations of causality, because lines are inexact and ends lie apart.
double error_of(double mad_ns) { return std::clamp(kClearlyBetter * mad_ns, kTimestampError_ns, kMostError_ns); }

// Finds the chain of pairs with the largest worth, with ascending positions on both sides.
class BestChain {
 public:
  explicit BestChain(std::size_t positions) : best_(positions + 1, kNone) {}

  // Returns the largest worth of a chain that ends before `position`; kNone if there is none.
  std::int32_t before(std::size_t position) const {
    std::int32_t found = kNone;
    for (std::size_t i = position; i > 0; i &= i - 1) found = better(found, best_[i]);
    return found;
  }
  std::int32_t link(std::size_t position, std::size_t item, double worth) {
    const std::int32_t last = before(position);
    links_.push_back(
        {position, item, worth + (last == kNone ? 0 : links_[static_cast<std::size_t>(last)].worth), last});
    return static_cast<std::int32_t>(links_.size() - 1);
  }
  void put(std::int32_t link) {
    for (std::size_t i = links_[static_cast<std::size_t>(link)].position + 1; i < best_.size(); i += i & (~i + 1))
      best_[i] = better(best_[i], link);
  }
  template <typename F>
  void walk(F&& f) const {
    for (std::int32_t at = before(best_.size() - 1); at != kNone; at = links_[static_cast<std::size_t>(at)].last)
      f(links_[static_cast<std::size_t>(at)].item, links_[static_cast<std::size_t>(at)].position);
  }

 private:
  static constexpr std::int32_t kNone = -1;
  struct Link {
    std::size_t position, item;
    double worth;  // of the chain up to here
    std::int32_t last;
  };
  std::int32_t better(std::int32_t a, std::int32_t b) const {
    if (a == kNone || b == kNone) return std::max(a, b);
    return links_[static_cast<std::size_t>(b)].worth > links_[static_cast<std::size_t>(a)].worth ? b : a;
  }
  std::vector<std::int32_t> best_;  // a Fenwick tree of maxima
  std::vector<Link> links_;
};

}  // namespace

std::int64_t AxisLine::on_axis(std::int64_t t_ns) const { return t_ns + std::llround(since(t_ns, t_ns)); }

std::vector<SequenceCall> CallSequence::timed(const AxisLane& lane) const {
  std::vector<SequenceCall> calls;
  calls.reserve(lane.lane->calls.size());
  double last_ns = -std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < lane.lane->calls.size(); ++i) {
    const CollectiveCall& call = lane.lane->calls[i];
    SequenceCall made{lanes_, i, last_ns, last_ns};
    if (call.gpu_start_ns != kNoTime) made.start_ns = made.end_ns = lane.line.since(call.gpu_start_ns, zero_ns_);
    if (call.gpu_end_ns != kNoTime) made.end_ns = lane.line.since(call.gpu_end_ns, zero_ns_);
    last_ns = made.end_ns;
    calls.push_back(made);
  }
  return calls;
}

bool CallSequence::can_be(const SequenceEntry& entry, const CollectiveLane& lane, const SequenceCall& call,
                          double error_ns) const {
  const WhatId what = lane.calls[call.call].what;
  if (entry.what != what && !can_be_same(whats_[entry.what], whats_[what])) return false;
  const bool both = entry.binds && binds(lane.calls[call.call], whats_);
  return !both || (call.start_ns <= entry.first_end_ns + error_ns && entry.last_start_ns <= call.end_ns + error_ns);
}

CallSequence::Paired CallSequence::pair(const CollectiveLane& lane, const std::vector<SequenceCall>& calls,
                                        double error_ns) const {
  Paired paired{std::vector<std::int32_t>(calls.size(), -1), {}, {}};
  BestChain chain(entries_.size());
  std::vector<std::int32_t> links;
  std::size_t first = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!binds(lane.calls[i], whats_)) continue;
    while (first < entries_.size() && entries_[first].end_ns < calls[i].end_ns - kMostSpread_ns) ++first;
    links.clear();
    for (std::size_t at = first; at < entries_.size() && entries_[at].end_ns <= calls[i].end_ns + kMostSpread_ns;
         ++at) {
      if (!entries_[at].binds || !can_be(entries_[at], lane, calls[i], error_ns)) continue;
      links.push_back(chain.link(at, i, kMostSpread_ns - std::abs(entries_[at].end_ns - calls[i].end_ns)));
    }
    for (const std::int32_t link : links) chain.put(link);
  }
  chain.walk([&](std::size_t item, std::size_t position) { paired.entry[item] = static_cast<std::int32_t>(position); });
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (paired.entry[i] < 0) continue;
    paired.at_ns.push_back(calls[i].end_ns);
    paired.residual_ns.push_back(entries_[static_cast<std::size_t>(paired.entry[i])].end_ns - calls[i].end_ns);
  }
  return paired;
}

std::size_t CallSequence::skipped(const CollectiveLane& lane, const std::vector<std::int32_t>& paired) const {
  std::size_t found = 0, own = 0;
  std::int32_t last = -1;
  for (std::size_t i = 0; i < paired.size(); ++i) {
    if (paired[i] < 0) {
      own += last >= 0 && binds(lane.calls[i], whats_);
      continue;
    }
    found += own;
    own = 0;
    for (std::int32_t at = last + 1; last >= 0 && at < paired[i]; ++at)
      found += entries_[static_cast<std::size_t>(at)].binds;
    last = paired[i];
  }
  return found;
}

// Pairs the calls between two pairs one by one if both sides have equally many: calls whose times do not bind, and ends
// that are far apart. If the numbers differ anywhere, something was lost, and only the former are paired.
void CallSequence::fill(const CollectiveLane& lane, const std::vector<SequenceCall>& calls,
                        std::vector<std::int32_t>& paired) const {
  struct Gap {
    std::vector<std::size_t> calls, entries;
  };
  std::vector<Gap> gaps;
  const auto collect = [&](bool binding) {
    gaps.assign(1, {});
    std::size_t at = 0, first = paired.size(), last = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (paired[i] >= 0) first = std::min(first, i), last = i;
    }
    for (std::size_t i = first; i < calls.size() && i <= last; ++i) {
      if (paired[i] < 0) {
        if (binds(lane.calls[i], whats_) == binding) gaps.back().calls.push_back(i);
        continue;
      }
      const auto entry = static_cast<std::size_t>(paired[i]);
      for (at = i == first ? entry : at; at < entry; ++at) {
        if (entries_[at].binds == binding) gaps.back().entries.push_back(at);
      }
      at = entry + 1;
      gaps.push_back({});
    }
  };
  for (const bool binding : {true, false}) {
    collect(binding);
    const auto is_even = [](const Gap& gap) { return gap.calls.size() == gap.entries.size(); };
    if (binding && !std::ranges::all_of(gaps, is_even)) continue;
    for (const Gap& gap : gaps) {
      if (!is_even(gap)) continue;
      for (std::size_t i = 0; i < gap.calls.size(); ++i) {
        const SequenceEntry& entry = entries_[gap.entries[i]];
        const SequenceCall& call = calls[gap.calls[i]];
        const bool near = !binding || std::abs(entry.end_ns - call.end_ns) <= kMostSpread_ns;
        if (near && can_be(entry, lane, call, kTimestampError_ns))
          paired[gap.calls[i]] = static_cast<std::int32_t>(gap.entries[i]);
      }
    }
  }
  // Calls with and without times may be in the wrong order.
  std::int32_t last = -1;
  for (std::int32_t& each : paired) {
    if (each >= 0 && each <= last) each = -1;
    last = std::max(last, each);
  }
}

void CallSequence::insert(const CollectiveLane& lane, const Placed& placed) {
  const auto& calls = placed.calls;
  const auto& paired = placed.entry;
  std::vector<SequenceEntry> all;
  all.reserve(entries_.size() + calls.size());
  std::size_t at = 0;
  const auto put = [&](SequenceEntry entry, const SequenceCall& call) {
    const CollectiveCall& own = lane.calls[call.call];
    const bool is_new = entry.calls.empty(), is_bound = binds(own, whats_);
    const double count = static_cast<double>(entry.calls.size());
    entry.end_ns = is_new ? call.end_ns : is_bound ? (entry.end_ns * count + call.end_ns) / (count + 1) : entry.end_ns;
    if (is_bound) {
      entry.last_start_ns = entry.binds ? std::max(entry.last_start_ns, call.start_ns) : call.start_ns;
      entry.first_end_ns = entry.binds ? std::min(entry.first_end_ns, call.end_ns) : call.end_ns;
    }
    if (is_new) entry.what = own.what, entry.binds = is_bound;
    entry.calls.push_back(call);
    all.push_back(std::move(entry));
  };
  std::vector<std::size_t> next(calls.size() + 1, entries_.size());  // the entry of the pair at or after this call
  for (std::size_t i = calls.size(); i-- > 0;)
    next[i] = paired[i] >= 0 ? static_cast<std::size_t>(paired[i]) : next[i + 1];
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (paired[i] >= 0) {
      const std::size_t entry = next[i];
      while (at < entry) all.push_back(std::move(entries_[at++]));
      put(std::move(entries_[at++]), calls[i]);
      continue;
    }
    // Between the pairs around it, by time.
    while (at < next[i] && entries_[at].end_ns <= calls[i].end_ns) all.push_back(std::move(entries_[at++]));
    put({}, calls[i]);
  }
  while (at < entries_.size()) all.push_back(std::move(entries_[at++]));
  entries_ = std::move(all);
}

CallSequence::Placed CallSequence::place(AxisLane& lane) const {
  // The drift error is proportional to the distance in time, so that has to be short.
  const std::int64_t first_ns = first_time(*lane.lane);
  lane.line = {first_ns, lane.line.on_axis(first_ns) - first_ns, lane.line.drift};
  Placed placed{timed(lane), {}};
  Paired paired = pair(*lane.lane, placed.calls, kMostError_ns);
  for (int round = 0; round < 2 && !paired.at_ns.empty(); ++round) {
    const RobustLine rest =
        robust_line(paired.at_ns, paired.residual_ns, paired.at_ns.size() >= kPairsForDrift ? kMostDrift : 0);
    placed.pairs = paired.at_ns.size(), placed.mad_ns = rest.mad;
    lane.line.offset_ns += std::llround(rest.value(lane.line.since(lane.line.origin_ns, zero_ns_)));
    lane.line.drift += rest.slope;
    placed.calls = timed(lane);
    paired = pair(*lane.lane, placed.calls, error_of(rest.mad));
  }
  placed.skipped = skipped(*lane.lane, paired.entry);
  fill(*lane.lane, placed.calls, paired.entry);
  placed.entry = std::move(paired.entry);
  return placed;
}

std::vector<std::int32_t> CallSequence::nearest(const AxisLane& lane) const {
  std::vector<std::int32_t> found;
  for (const SequenceCall& call : timed(lane)) {
    const auto next = std::ranges::lower_bound(entries_, call.end_ns, {}, &SequenceEntry::end_ns);
    const auto apart = [&](auto at) { return at == entries_.end() ? INFINITY : std::abs(at->end_ns - call.end_ns); };
    const auto before = next == entries_.begin() ? entries_.end() : next - 1;
    const auto best = apart(before) < apart(next) ? before : next;
    found.push_back(apart(best) <= kMostSpread_ns ? static_cast<std::int32_t>(best - entries_.begin()) : -1);
  }
  return found;
}

CallSequence::Placed CallSequence::add(AxisLane& lane) {
  Placed placed = place(lane);
  insert(*lane.lane, placed);
  ++lanes_;
  return placed;
}

AxisLine line_of(const LaneFit& fit, const CollectiveLane& a) {
  const auto offset_ns = std::llround(fit.offset_ns);
  return {first_time(a) - offset_ns, offset_ns, fit.drift_ppm * 1e-6};
}

AxisLine turned(const AxisLine& line) { return {line.origin_ns + line.offset_ns, -line.offset_ns, -line.drift}; }

// Drifts are so small that their products can be ignored near the times at which they were found.
AxisLine joined(const AxisLine& outer, const AxisLine& inner) {
  const std::int64_t origin_ns = inner.drift != 0 ? inner.origin_ns : outer.origin_ns - inner.offset_ns;
  const std::int64_t there_ns = inner.on_axis(origin_ns);
  return {origin_ns, outer.on_axis(there_ns) - origin_ns, inner.drift + outer.drift};
}

LaneFit fit_on_axis(const LanePair& lanes, AxisLine& line) {
  const auto& [a, b, whats, same_clock] = lanes;
  CallSequence sequence(whats, first_time(a));
  AxisLane reference{&a, {}}, other{&b, line};
  sequence.add(reference);
  const CallSequence::Placed placed = sequence.place(other);
  line = other.line;
  LaneFit fit;
  fit.pairs = fit.binding = placed.pairs;
  fit.mad_ns = placed.mad_ns;
  fit.offset_ns = static_cast<double>(line.offset_ns);
  fit.drift_ppm = line.drift * 1e6;
  // Ends that are near each other by chance skip many calls between them.
  fit.possible = placed.pairs >= kFewestKnown && 2 * placed.pairs >= std::min(a.calls.size(), b.calls.size()) &&
                 placed.mad_ns <= kTypicalSpread_ns &&
                 static_cast<double>(placed.skipped) <= 1 + kMostSkipped * static_cast<double>(placed.pairs);
  if (!fit.possible) {
    fit.why = fmt::format(
        "of {} and {} calls, {} end together within the known clock error; {} calls between them do not, and the ends differ by {:.1f} us",
        a.calls.size(), b.calls.size(), placed.pairs, placed.skipped, placed.mad_ns / 1e3);
  }
  return fit;
}

LaneFit fit_with_losses(const LanePair& lanes, FitBudget& budget, AxisLine& line) {
  const auto& [a, b, whats, same_clock] = lanes;
  LaneFit none;
  // At least half of the shorter lane has to be in the longer one.
  if (2 * b.calls.size() < a.calls.size()) return none;
  for (const std::size_t share : {kAxisParts / 2, kAxisParts}) {
    const std::size_t length = std::max(kLeastAxisPart, b.calls.size() / share);
    if (b.calls.size() < length || a.calls.size() < length) continue;
    std::optional<LaneFit> best;
    AxisLine best_line;
    for (std::size_t part = 0; part < share; ++part) {
      if (budget.pairs == 0) return none;
      const std::size_t first = (b.calls.size() - length) * part / (share - 1);
      CollectiveLane some = b;
      some.calls.assign(b.calls.begin() + static_cast<std::ptrdiff_t>(first),
                        b.calls.begin() + static_cast<std::ptrdiff_t>(first + length));
      some.whole_beginning = false;
      const LanePair with_some{a, some, whats, same_clock};
      const LaneFit found = fit_part(with_some, budget);
      // If it fits at two positions, the sequence repeats and a loss may hide the right one.
      if (found.alike) return none;
      const std::int64_t middle_ns = some.calls[length / 2].gpu_end_ns;
      if (!proves(found) || middle_ns == kNoTime) continue;
      // Extend from there, doubling the length each time, because a short part gives an inexact drift.
      AxisLine here{middle_ns, std::llround(line_of(found, a).since(middle_ns, middle_ns)), 0};
      std::size_t from = first, to = first + length;
      LaneFit fit;
      for (bool whole = false; !whole;) {
        const std::size_t more = to - from;
        from -= std::min(from, more / 2), to = std::min(b.calls.size(), to + more / 2);
        whole = from == 0 && to == b.calls.size();
        some.calls.assign(b.calls.begin() + static_cast<std::ptrdiff_t>(from),
                          b.calls.begin() + static_cast<std::ptrdiff_t>(to));
        fit = fit_on_axis(with_some, here);
        budget.pairs -= std::min(budget.pairs, a.calls.size() + some.calls.size());
      }
      // Losses leave nearly all of the shorter lane paired; a wrong position does not.
      if (!fit.possible || 4 * fit.pairs < 3 * std::min(a.calls.size(), b.calls.size())) continue;
      if (best && std::abs(here.on_axis(middle_ns) - best_line.on_axis(middle_ns)) >
                      static_cast<std::int64_t>(kTypicalSpread_ns))
        return none;
      if (!best || fit.mad_ns < best->mad_ns) best = fit, best_line = here;
    }
    if (best) {
      line = best_line;
      return *best;
    }
  }
  return none;
}

}  // namespace cli
