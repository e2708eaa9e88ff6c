// Two runs, quantity by quantity: what grew, shrank, appeared or vanished between them (noise.h says when).
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/compare/noise.h"
#include "cli/answers/compare/run_profile.h"

namespace cli::comparison {

enum class ChangeWord : std::uint8_t { same, grew, shrank, appeared, vanished };
std::string_view change_text(ChangeWord word);  // "" of the same

// A quantity of both runs. Times are medians over the steps: of the mean over the GPUs; of launches, of their mean duration in the steps that have any.
struct Change {
  const Quantity* quantity = nullptr;  // of one of the profiles
  StepSample a, b;
  double count_a = 0, count_b = 0;  // how often in a step: medians
  double resolution_ns = 1;         // smaller differences cannot be measured
  std::optional<double> noise_ns;   // what the difference may be of steps that differ in nothing; the most that it may be, if a side has fewer than kFewestSteps
  ChangeWord word = ChangeWord::same;

  double difference_ns() const { return b.median - a.median; }
};

// What a part of the step's partition adds to the difference of the mean step: they sum to it.
struct PartChange {
  std::string name;
  std::int64_t a_ns = 0, b_ns = 0;
};

struct Comparison {
  std::vector<std::vector<Change>> groups;  // by QuantityGroup; the largest difference first
  std::vector<PartChange> parts;            // the largest difference first; rounded so that they sum to the rounded means of the step
  std::size_t judged = 0;                   // quantities for which the noise is
  bool has_noise = false;                   // both sides have kFewestSteps
  std::set<std::string> compute_classes;    // of either run
  double least_ns = 0;                      // smaller differences are called the same

  const std::vector<Change>& group(QuantityGroup which) const { return groups[static_cast<std::size_t>(which)]; }
  const Change& step() const;
};

// Both profiles outlive it. A difference of less than `least_share` of the step (0.001) is none.
Comparison compare_runs(const RunProfile& a, const RunProfile& b, double least_share);

// What in the sequences of kernels differs, equal changes as one.
struct KernelChange {
  std::vector<SequenceKernel> removed, added;  // of a, of b
  std::size_t times = 0;
  std::size_t at_a = 0, at_b = 0;  // of the first: how many kernels are before it
  bool grid_alone = false;         // names are the same
};

struct SequenceComparison {
  std::int64_t step_a = -1, step_b = -1;
  std::size_t kernels_a = 0, kernels_b = 0;
  std::optional<std::vector<KernelChange>> changes;  // by place; empty: there are too many differences to align
};

// Of the steps that both have sequences of, those with the nearest number of kernels. Empty: a run has none.
std::optional<SequenceComparison> compare_sequences(const RunProfile& a, const RunProfile& b);

}  // namespace cli::comparison
