// Which calls of two lanes are the same collectives, where no number tells it: one lane is shifted along the other.
//
// Three things decide, and all must hold. The calls do the same: operation, size, root and reduction, as far as they are told.
// And there is an offset of the clocks of the two ranks (with a drift of 200 ppm at most) at which every pair could have
// happened: in a collective in which every rank depends on all, no rank ends before another begins. Of the pair k this says
//
//     start_a(k) - end_b(k)  <=  offset  <=  end_a(k) - start_b(k)
//
// With a wrong shift these intervals have nothing in common, because steps of training are never quite alike. (The eight ranks
// of a job on H100s: at the right shift the intervals of 76 collectives share 30 us, at the best wrong one they miss each other
// by 800 us.) And the ends agree: they differ by far less than steps do. Where several shifts are possible, nothing is chosen,
// unless one of them fits the ends far better.
//
// Operations that some ranks end before others begin, as a broadcast, say nothing here: only those that bind are compared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"

namespace cli {

// An offset is added to the second lane's times to have the first one's.
struct LaneFit {
  bool possible = false;
  bool alike = false;         // other shifts are possible alike, so that it is not
  bool differs = false;       // calls of one position do different things, so that it is not
  std::int64_t shift = 0;     // position in the first lane - position in the second one
  std::size_t pairs = 0;      // calls that both have
  std::size_t binding = 0;    // of these, such as times tell of: known on both, and every rank depends on all, as far as is known
  double offset_ns = 0;       // the median of what the ends say
  double drift_ppm = 0;       // of the second lane's clock, 0 where it is not needed
  double width_ns = 0;        // how much the intervals have in common; negative: how far they miss each other
  double mad_ns = 0;          // median deviation of the ends
  double starts_mad_ns = 0;   // the same of the starts
  std::size_t shifts = 0;     // where none of so many is possible: why_not() tells more
  std::string why;            // where it is not possible, and else nothing tells it
};

// How many more pairs of calls may be looked at, in all comparisons of a run: so matching stays linear in the trace.
struct FitBudget {
  std::size_t pairs = 0;
};

// So much smaller is the deviation of one of two possible shifts, if it is to be told from the other.
inline constexpr double kClearlyBetter = 4;

// The drift of two clocks; crystals of computers stay below 100 ppm each. It is looked for from so many pairs of calls on.
inline constexpr double kMostDrift = 200e-6;
inline constexpr std::size_t kPairsForDrift = 16;

// How far the ends of one collective lie apart on ranks whose clocks are the same, at most: the median, and nearly all of them. Where
// ranks wait long, causality alone allows much.
inline constexpr double kTypicalSpread_ns = 100'000, kMostSpread_ns = 500'000;

// How far causality may be missed by, for the GPU's times on the host's clock are not exact.
inline constexpr double kTimestampError_ns = 5'000;

// Of unknown operations the safe thing is assumed: what they do not obey is refused. Of a broadcast or a reduce some ranks are done
// before others begin: their ends tell nothing.
constexpr bool times_bind(Operation operation) {
  return all_depend_on_all(operation) || operation == Operation::unknown || operation == Operation::send_receive;
}

// Of one shift. `same_clock`: the offset is 0. Calls that do different things make it impossible, and are else left out.
LaneFit fit_at(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, std::int64_t shift);

// Of all of them: each by a few pairs, what that leaves by more of them, the best by all.
LaneFit fit_lanes(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, FitBudget& budget);

// The same of a part of the second lane, of which it is not asked whether a loss may hide the right shift.
LaneFit fit_part(const CollectiveLane& a, const CollectiveLane& part, const Interned<CollectiveWhat>& whats, bool same_clock, FitBudget& budget);

// Part of the second lane, and a shift that is possible for it and not clearly worse than the best one.
struct PartFit {
  std::size_t first = 0, calls = 0;
  LaneFit fit;
};

// A few parts that make up the second lane, in order; of each part the best shift first.
std::vector<PartFit> fit_parts(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, FitBudget& budget);

// Of a fit of theirs that is not possible.
std::string why_not(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, const LaneFit& fit);

// It is possible, and by so many calls that this is no chance.
bool proves(const LaneFit& fit);

// One is clearly less than the other.
bool is_clearly_better(double mad_ns, double other_ns);

// When its first work began; 0 if that is not known of any.
std::int64_t first_time(const CollectiveLane& lane);

// "all_reduce of 4096 bytes".
std::string what_text(const CollectiveWhat& what);

}  // namespace cli
