// Collects the quantities of each step of a run (run_profile.h) in one walk.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/answers/compare/run_profile.h"
#include "cli/answers/tables/analyze.h"

namespace cli::comparison {

// Aligns two sequences with the fewest removals from one and additions from the other (Myers, An O(ND) difference
// algorithm, 1986). Time: length x differences; memory: differences squared.

// Consecutive elements of `a` that are replaced by consecutive elements of `b`. One of the counts may be 0.
struct SequenceChange {
  std::size_t at_a = 0, count_a = 0;
  std::size_t at_b = 0, count_b = 0;
  bool operator==(const SequenceChange&) const = default;
};

inline constexpr std::size_t kMostDifferences = 3000;

// Returns the changes in order. Empty if there are more than `most` differences.
std::optional<std::vector<SequenceChange>> align_sequences(std::span<const std::uint32_t> a,
                                                           std::span<const std::uint32_t> b,
                                                           std::size_t most = kMostDifferences);

// `profile` must outlive the walk and is complete after it. With `whole`, profiles the whole trace or --time instead of
// steps. With `for_diff`, collects also kernel sequences, collectives and operators; otherwise the launches of each
// kernel.
std::vector<TablesObserverEntry> profile_observers(RunProfile& profile, bool whole, bool for_diff);

// Observers for collectives and for operators; the latter must come after the observer of the other quantities.
TablesObserverEntry collective_observer(RunProfile& profile, bool whole);
TablesObserverEntry operator_observer(RunProfile& profile, bool whole);

// Events that operator_observer() needs in addition to GPU work.
inline KindSet operator_kinds() {
  return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::runtime, Kind::driver});
}

}  // namespace cli::comparison
