// Matches the calls of two lanes whose positions have no common number, by shifting one lane along the other.
//
// A shift is possible if three conditions hold:
// - The calls of each pair do the same: operation, size, root and reduction are equal as far as they are known.
// - One offset between the clocks of the two ranks (with a drift of at most 200 ppm) explains every pair. In a
//   collective in which every rank depends on all others, no rank ends before another begins. Pair k therefore requires
//
//     start_a(k) - end_b(k)  <=  offset  <=  end_a(k) - start_b(k)
//
//   With a wrong shift these intervals have no common point, because training steps are never quite alike. (Eight
//   ranks of a job on H100s: at the right shift the intervals of 76 collectives share 30 us; at the best wrong shift
//   they miss each other by 800 us.)
// - The ends agree: they differ by far less than steps do.
//
// If several shifts are possible, none is chosen unless one fits the ends far better.
//
// Operations that some ranks end before others begin, such as a broadcast, do not limit the offset. Only operations
// that bind (times_bind()) are compared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"

namespace cli {

// The offset is added to times of the second lane to convert them to the first lane's clock.
struct LaneFit {
  bool possible = false;
  bool alike = false;      // impossible because other shifts fit equally well
  bool differs = false;    // impossible because calls at one position do different things
  std::int64_t shift = 0;  // position in the first lane - position in the second one
  std::size_t pairs = 0;   // calls present in both lanes
  // Pairs with known times on both sides in which every rank depends on all, as far as is known
  std::size_t binding = 0;
  double offset_ns = 0;    // median of the differences of the ends
  double drift_ppm = 0;    // of the second lane's clock; 0 if no drift is needed
  double width_ns = 0;     // common part of the intervals; if negative, the distance by which they miss each other
  double mad_ns = 0;       // median absolute deviation of the ends
  std::size_t shifts = 0;  // number of shifts tried, if none is possible; see why_not()
  std::string why;         // reason why the fit is impossible, if no other member gives it
};

// Pairs of calls that may still be compared, over all comparisons of a run. The limit keeps matching linear in the
// trace.
struct FitBudget {
  std::size_t pairs = 0;
};

// A possible shift is preferred to another one if its deviation is smaller by this factor.
inline constexpr double kClearlyBetter = 4;

// Largest drift between two clocks; computer crystals stay below 100 ppm each. Drift is fitted from kPairsForDrift
// pairs on.
inline constexpr double kMostDrift = 200e-6;
inline constexpr std::size_t kPairsForDrift = 16;

// Largest distance between the ends of one collective on ranks with the same clock: the median, and nearly all of them.
// These limits are needed because causality alone allows a wide range when ranks wait long.
inline constexpr double kTypicalSpread_ns = 100'000, kMostSpread_ns = 500'000;

// Tolerance for violations of causality, because GPU times converted to the host's clock are inexact.
inline constexpr double kTimestampError_ns = 5'000;

// Returns true if the times of this operation limit the clock offset. An unknown operation is assumed to bind, which is
// the safe choice: shifts that contradict it are refused. In a broadcast or a reduce some ranks finish before others
// begin, so their ends prove nothing.
constexpr bool times_bind(Operation operation) {
  return all_depend_on_all(operation) || operation == Operation::unknown || operation == Operation::send_receive;
}

// Returns true if all times of the call are known and limit the clock offset.
inline bool binds(const CollectiveCall& call, const Interned<CollectiveWhat>& whats) {
  return call.gpu_start_ns != kNoTime && call.gpu_end_ns != kNoTime && times_bind(whats[call.what].operation);
}

// Two lanes that are compared.
struct LanePair {
  const CollectiveLane &a, &b;
  const Interned<CollectiveWhat>& whats;
  bool same_clock;  // the offset between the clocks is 0
};

// Fits one shift. Calls that do different things make the shift impossible; calls of unknown times are skipped.
LaneFit fit_at(const LanePair& lanes, std::int64_t shift);

// Fits all shifts: each with a few pairs, the remaining ones with more pairs, and the best one with all pairs.
LaneFit fit_lanes(const LanePair& lanes, FitBudget& budget);

// Same as fit_lanes() for a part of the second lane, without the check that lost calls may hide the right shift.
LaneFit fit_part(const LanePair& lanes, FitBudget& budget);

// Part of the second lane, with a shift that is possible for it and not clearly worse than the best one.
struct PartFit {
  std::size_t first = 0, calls = 0;
  LaneFit fit;
};

// Returns a few parts that make up the second lane, in order. The candidates of each part are sorted, best shift first.
std::vector<PartFit> fit_parts(const LanePair& lanes, FitBudget& budget);

// Returns the reason why `fit`, a fit of these lanes, is impossible.
std::string why_not(const LanePair& lanes, const LaneFit& fit);

// Returns true if the fit is possible and has enough calls to exclude chance.
bool proves(const LaneFit& fit);

// Returns true if `mad_ns` is clearly less than `other_ns`.
bool is_clearly_better(double mad_ns, double other_ns);

// Returns the time at which the lane's first GPU work began; 0 if no call has a known time.
std::int64_t first_time(const CollectiveLane& lane);

// Returns a text such as "all_reduce of 4096 bytes".
std::string what_text(const CollectiveWhat& what);

}  // namespace cli
