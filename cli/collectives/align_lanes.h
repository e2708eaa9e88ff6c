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
// by 800 us.) And the ends agree: they differ by far less than steps do. Where several shifts are possible, nothing is chosen, unless one of them fits the ends far better.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/collectives/calls.h"

namespace cli {

// An offset is added to the second lane's times to have the first one's.
struct LaneFit {
  bool possible = false;
  std::int64_t shift = 0;  // position in the first lane - position in the second one
  std::size_t pairs = 0;   // calls that both have
  double offset_ns = 0;    // the median of what the ends say
  double drift_ppm = 0;    // of the second lane's clock, 0 where it is not needed
  double width_ns = 0;     // how much the intervals have in common; negative: how far they miss each other
  double mad_ns = 0;       // median deviation of the ends
  std::string why;         // where it is not possible
};

// Of one shift. `same_clock`: the offset is 0.
LaneFit fit_at(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock, std::int64_t shift);

// Of all of them. `why` says what is wrong with one of them.
LaneFit fit_lanes(const CollectiveLane& a, const CollectiveLane& b, const Interned<CollectiveWhat>& whats, bool same_clock);

// It is possible, and of so many calls that this is no chance.
bool proves(const LaneFit& fit);

// "all_reduce of 4096 bytes".
std::string what_text(const CollectiveWhat& what);

}  // namespace cli
