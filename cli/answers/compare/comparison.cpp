#include "cli/answers/compare/comparison.h"

#include <functional>
#include <tuple>

#include "cli/answers/tables/percentile.h"

namespace cli::comparison {
namespace {

using Values = std::vector<std::int64_t>;

double per_gpu(double value, const RunProfile& run) {
  return value / static_cast<double>(std::max<std::int64_t>(run.gpus, 1));
}

StepSample sample_of(const StepSums& sums, const RunProfile& run, QuantityGroup group) {
  Values ns = sums.ns(run.steps.size());
  if (group != QuantityGroup::launch) return {ns, run.gpus};
  // Resolution of the mean of several launches, in fractions of a nanosecond.
  constexpr std::int64_t kFraction = 1024;
  const Values counts = sums.counts(run.steps.size());
  Values means;
  for (std::size_t step = 0; step < ns.size(); ++step) {
    if (counts[step] > 0)
      means.push_back(ns[step] / counts[step] * kFraction + ns[step] % counts[step] * kFraction / counts[step]);
  }
  return {means, kFraction};
}

Change change_of(const Quantity& quantity, const StepSums& a, const StepSums& b, const RunProfile& run_a,
                 const RunProfile& run_b, QuantityGroup group) {
  const auto count = [](const StepSums& sums, const RunProfile& run) {
    Values counts = sums.counts(run.steps.size());
    return per_gpu(static_cast<double>(median(counts)), run);
  };
  Change change{&quantity, sample_of(a, run_a, group), sample_of(b, run_b, group), count(a, run_a), count(b, run_b)};
  // Number of launches over which rounding errors average out
  const double in_one_value =
      group == QuantityGroup::launch ? std::max(1.0, std::min(change.count_a, change.count_b)) : 1;
  change.resolution_ns = static_cast<double>(std::max(run_a.resolution_ns, run_b.resolution_ns)) / in_one_value;
  return change;
}

std::vector<Change> changes_of(QuantityGroup group, const Quantities& a, const Quantities& b, const RunProfile& run_a,
                               const RunProfile& run_b) {
  const StepSums none;
  std::vector<Change> changes;
  for (const auto& [quantity, sums] : a) {
    const auto other = b.find(quantity);
    changes.push_back(change_of(quantity, sums, other == b.end() ? none : other->second, run_a, run_b, group));
  }
  for (const auto& [quantity, sums] : b) {
    if (!a.contains(quantity)) changes.push_back(change_of(quantity, none, sums, run_a, run_b, group));
  }
  return changes;
}

// Appeared or vanished: 0 in all steps of one run, and present in at least half of the steps of the other.
ChangeWord word_of(const Change& change) {
  const bool more = change.b.median > change.a.median;
  if (change.a.never && more) return ChangeWord::appeared;
  if (change.b.never && !more) return ChangeWord::vanished;
  return more ? ChangeWord::grew : ChangeWord::shrank;
}

std::vector<PartChange> parts_of(const RunProfile& a, const RunProfile& b) {
  std::map<std::string, std::pair<double, double>> means;
  const auto take = [&](const RunProfile& run, double std::pair<double, double>::*side) {
    for (const auto& [quantity, sums] : run.parts) {
      const Values ns = sums.ns(run.steps.size());
      means[quantity.name].*side = StepSample(ns, run.gpus).mean;
    }
  };
  take(a, &std::pair<double, double>::first);
  take(b, &std::pair<double, double>::second);
  std::vector<PartChange> parts;
  double sum_a = 0, sum_b = 0;
  for (const auto& [name, mean] : means) {
    const auto before_a = std::llround(sum_a), before_b = std::llround(sum_b);
    sum_a += mean.first;
    sum_b += mean.second;
    parts.push_back({name, std::llround(sum_a) - before_a, std::llround(sum_b) - before_b});
  }
  std::ranges::stable_sort(parts, std::greater(),
                           [](const PartChange& part) { return std::abs(part.b_ns - part.a_ns); });
  return parts;
}

using Numbers = std::vector<std::uint32_t>;

template <typename Element>
std::vector<Element> part_of(const std::vector<Element>& all, std::size_t at, std::size_t count) {
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(at);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

// Returns the pair that is closest to both medians, if there are several.
std::pair<const StepSequence*, const StepSequence*> most_alike(const RunProfile& a, const RunProfile& b) {
  std::tuple<std::size_t, std::size_t> least{std::numeric_limits<std::size_t>::max(), 0};
  std::pair<const StepSequence*, const StepSequence*> found{};
  for (std::size_t i = 0; i < a.sequences.size(); ++i) {
    for (std::size_t j = 0; j < b.sequences.size(); ++j) {
      const std::size_t of_a = a.sequences[i].kernels.size(), of_b = b.sequences[j].kernels.size();
      const std::tuple unlike{std::max(of_a, of_b) - std::min(of_a, of_b), i + j};
      if (unlike < least) least = unlike, found = {&a.sequences[i], &b.sequences[j]};
    }
  }
  return found;
}

}  // namespace

namespace {

using KernelSequence = std::span<const std::uint32_t>;
using SequencePosition = std::ptrdiff_t;

// The furthest position in `a` on each diagonal (position in a - position in b) with a given number of differences;
// index: diagonal + differences.
using DiagonalReach = std::vector<SequencePosition>;

// Computes the reach of the diagonals for 0, 1, 2, ... differences until both ends are reached.
class ReachSearch {
 public:
  ReachSearch(KernelSequence a, KernelSequence b) : a_(a), b_(b) {}

  bool run(std::size_t most) {
    for (std::size_t differences = 0; differences <= most; ++differences) {
      if (step(static_cast<SequencePosition>(differences))) return true;
    }
    return false;
  }

  // Walks from the end to the begin. Calls on_edit with the positions in both sequences at which an element is removed
  // (a) or added (b).
  template <typename OnEdit>
  void trace_back(const OnEdit& edit) const {
    SequencePosition x = size(a_), y = size(b_);
    for (SequencePosition d = static_cast<SequencePosition>(reached_.size()) - 1; d > 0; --d) {
      const SequencePosition k = x - y;
      const SequencePosition before = adds(d, k) ? k + 1 : k - 1;
      const SequencePosition old_x = at(d - 1, before), old_y = old_x - before;
      edit(old_x, old_y, adds(d, k));
      x = old_x;
      y = old_y;
    }
  }

 private:
  static SequencePosition size(KernelSequence elements) { return static_cast<SequencePosition>(elements.size()); }
  SequencePosition at(SequencePosition d, SequencePosition k) const {
    return reached_[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)];
  }
  // Returns true if the last difference on this diagonal is an addition.
  bool adds(SequencePosition d, SequencePosition k) const {
    return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1));
  }

  bool step(SequencePosition d) {
    DiagonalReach& reach = reached_.emplace_back(static_cast<std::size_t>(2 * d + 1), SequencePosition{0});
    for (SequencePosition k = -d; k <= d; k += 2) {
      SequencePosition x = d == 0 ? 0 : adds(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      while (x < size(a_) && x - k < size(b_) && x >= 0 && x - k >= 0 &&
             a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)])
        ++x;
      reach[static_cast<std::size_t>(k + d)] = x;
      if (x >= size(a_) && x - k >= size(b_)) return true;
    }
    return false;
  }

  KernelSequence a_, b_;
  std::vector<DiagonalReach> reached_;  // by number of differences
};

}  // namespace

std::optional<std::vector<SequenceChange>> align_sequences(KernelSequence a, KernelSequence b, std::size_t most) {
  std::size_t same_begin = 0, same_end = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (same_begin < shorter && a[same_begin] == b[same_begin]) ++same_begin;
  while (same_end < shorter - same_begin && a[a.size() - 1 - same_end] == b[b.size() - 1 - same_end]) ++same_end;
  const KernelSequence middle_a = a.subspan(same_begin, a.size() - same_begin - same_end),
                       middle_b = b.subspan(same_begin, b.size() - same_begin - same_end);
  ReachSearch search(middle_a, middle_b);
  if (!search.run(most)) return std::nullopt;
  std::vector<SequenceChange> changes;  // in reverse order
  search.trace_back([&](SequencePosition x, SequencePosition y, bool added) {
    const std::size_t at_a = same_begin + static_cast<std::size_t>(x), at_b = same_begin + static_cast<std::size_t>(y);
    const std::size_t of_a = added ? 0 : 1, of_b = added ? 1 : 0;
    if (changes.empty() || changes.back().at_a != at_a + of_a || changes.back().at_b != at_b + of_b)
      changes.push_back({at_a + of_a, 0, at_b + of_b, 0});
    SequenceChange& change = changes.back();
    change = {at_a, change.count_a + of_a, at_b, change.count_b + of_b};
  });
  std::reverse(changes.begin(), changes.end());
  return changes;
}

std::string_view change_text(ChangeWord word) {
  constexpr std::string_view kWords[] = {"", "grew", "shrank", "appeared", "vanished"};
  return kWords[static_cast<std::size_t>(word)];
}

const Change& Comparison::step() const {
  const std::vector<Change>& changes = group(QuantityGroup::step);
  return *std::ranges::find(changes, kStepTime,
                            [](const Change& change) { return std::string_view(change.quantity->name); });
}

Comparison compare_runs(const RunProfile& a, const RunProfile& b, double least_share) {
  Comparison comparison;
  for (std::size_t i = 0; i < a.groups.size(); ++i)
    comparison.groups.push_back(changes_of(static_cast<QuantityGroup>(i), a.groups[i], b.groups[i], a, b));
  const Change& step = comparison.step();
  comparison.has_noise = step.a.has_noise() && step.b.has_noise();
  comparison.compute_classes = a.compute_classes;
  comparison.compute_classes.insert(b.compute_classes.begin(), b.compute_classes.end());
  comparison.least_ns = least_share * std::max(step.a.median, step.b.median);
  const auto is_judged = [&](const Change& change) {
    return std::max(change.a.median, change.b.median) >= comparison.least_ns;
  };
  for (const auto& group : comparison.groups)
    comparison.judged += static_cast<std::size_t>(std::count_if(group.begin(), group.end(), is_judged));
  for (auto& group : comparison.groups) {
    for (Change& change : group) {
      change.noise_ns =
          noise_of(change.a, change.b, kFalseWord / static_cast<double>(std::max<std::size_t>(comparison.judged, 1)),
                   change.resolution_ns);
      const bool is_enough = std::abs(change.difference_ns()) >= comparison.least_ns && change.difference_ns() != 0;
      if (is_enough && differ(change.a, change.b, change.noise_ns)) change.word = word_of(change);
    }
    std::ranges::stable_sort(group, std::greater(),
                             [](const Change& change) { return std::abs(change.difference_ns()); });
  }
  comparison.parts = parts_of(a, b);
  return comparison;
}

std::optional<SequenceComparison> compare_sequences(const RunProfile& a, const RunProfile& b) {
  if (a.sequences.empty() || b.sequences.empty()) return std::nullopt;
  const auto [of_a, of_b] = most_alike(a, b);
  SequenceComparison comparison{of_a->step, of_b->step, of_a->kernels.size(), of_b->kernels.size(), std::nullopt};
  std::map<std::pair<std::string_view, Extent>, std::uint32_t> names;  // equal numbers for equal names and grids
  const auto numbers_of = [&](const RunProfile& run, const StepSequence& sequence) {
    Numbers numbers;
    for (const auto& [name, grid] : sequence.kernels)
      numbers.push_back(
          names.try_emplace({run.names[name], grid}, static_cast<std::uint32_t>(names.size())).first->second);
    return numbers;
  };
  const Numbers sequence_a = numbers_of(a, *of_a), sequence_b = numbers_of(b, *of_b);
  const auto aligned = align_sequences(sequence_a, sequence_b);
  if (!aligned) return comparison;
  std::map<std::pair<Numbers, Numbers>, std::size_t> known;  // index in `changes`
  std::vector<KernelChange>& changes = comparison.changes.emplace();
  for (const SequenceChange& each : *aligned) {
    const auto [place, is_new] = known.try_emplace(
        {part_of(sequence_a, each.at_a, each.count_a), part_of(sequence_b, each.at_b, each.count_b)}, changes.size());
    if (is_new) {
      KernelChange change{part_of(of_a->kernels, each.at_a, each.count_a),
                          part_of(of_b->kernels, each.at_b, each.count_b), 0, each.at_a, each.at_b};
      change.grid_alone = std::equal(
          change.removed.begin(), change.removed.end(), change.added.begin(), change.added.end(),
          [&](const SequenceKernel& x, const SequenceKernel& y) { return a.names[x.name] == b.names[y.name]; });
      changes.push_back(std::move(change));
    }
    ++changes[place->second].times;
  }
  return comparison;
}

}  // namespace cli::comparison
