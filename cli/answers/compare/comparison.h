// Compares two runs quantity by quantity: what grew, shrank, appeared or vanished (criteria: noise.h).
#pragma once
#include <span>

#include "cli/answers/compare/noise.h"

namespace cli::comparison {

enum class ChangeWord : std::uint8_t { same, grew, shrank, appeared, vanished };
std::string_view change_text(ChangeWord word);  // "" for `same`

// A quantity in both runs. Times are medians over the steps of the mean over the GPUs; for launches, of their mean
// duration in the steps that have any.
struct Change {
  const Quantity* quantity = nullptr;  // in one of the profiles
  StepSample a, b;
  double count_a = 0, count_b = 0;  // occurrences per step (medians)
  double resolution_ns = 1;         // smaller differences cannot be measured
  // Difference to expect if the steps do not differ; an upper bound if a side has fewer than kFewestSteps
  std::optional<double> noise_ns = {};
  ChangeWord word = ChangeWord::same;

  double difference_ns() const { return b.median - a.median; }
};

// What a part of the step contributes to the difference of the mean step. All parts together sum to it.
struct PartChange {
  std::string name;
  std::int64_t a_ns = 0, b_ns = 0;
};

struct Comparison {
  std::vector<std::vector<Change>> groups;  // by QuantityGroup; largest difference first
  // Largest difference first; rounded so that they sum to the rounded means of the step
  std::vector<PartChange> parts;
  std::size_t judged = 0;                 // number of quantities among which the false-verdict chance is shared
  bool has_noise = false;                 // both sides have kFewestSteps
  std::set<std::string> compute_classes;  // of either run
  double least_ns = 0;                    // smaller differences are reported as `same`

  const std::vector<Change>& group(QuantityGroup which) const { return groups[static_cast<std::size_t>(which)]; }
  const Change& step() const;
};

// Both profiles must outlive the result. Differences below `least_share` of the step (for example 0.001) are ignored.
Comparison compare_runs(const RunProfile& a, const RunProfile& b, double least_share);

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

// A difference between the kernel sequences. Equal changes are combined into one.
struct KernelChange {
  std::vector<SequenceKernel> removed, added;  // from a, from b
  std::size_t times = 0;
  std::size_t at_a = 0, at_b = 0;  // position of the first occurrence: number of kernels before it
  bool grid_alone = false;         // names are equal, only grids differ
};

struct SequenceComparison {
  std::int64_t step_a = -1, step_b = -1;
  std::size_t kernels_a = 0, kernels_b = 0;
  std::optional<std::vector<KernelChange>> changes;  // by position; empty if there are too many differences to align
};

// Compares one step of each run: among the steps with sequences, those with the closest number of kernels. Empty if a
// run has none.
std::optional<SequenceComparison> compare_sequences(const RunProfile& a, const RunProfile& b);

}  // namespace cli::comparison
