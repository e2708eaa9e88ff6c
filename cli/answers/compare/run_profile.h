// The quantities of a run in each of its training steps, by which two runs are compared.
#pragma once
#include <compare>
#include <map>
#include <set>

#include "cli/answers/tables/analysis_table.h"

namespace cli::comparison {

// A quantity in each step, summed over GPUs. Stored sparsely, because most kernels run in few steps.
class StepSums {
 public:
  void add(std::size_t step, std::int64_t ns, std::int64_t count) {
    constexpr std::size_t kNear = 4;
    for (std::size_t back = 1; back <= std::min(kNear, entries_.size()); ++back) {
      Entry& entry = entries_[entries_.size() - back];
      if (entry.step != step) continue;
      entry.ns += ns;
      entry.count += count;
      return;
    }
    entries_.push_back({step, ns, count});
  }
  void add(const StepSums& other) { entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end()); }
  // Return one value per step, 0 for steps without an entry.
  std::vector<std::int64_t> ns(std::size_t steps) const { return all(steps, &Entry::ns); }
  std::vector<std::int64_t> counts(std::size_t steps) const { return all(steps, &Entry::count); }

 private:
  struct Entry {
    std::size_t step;
    std::int64_t ns, count;
  };
  std::vector<std::int64_t> all(std::size_t steps, std::int64_t Entry::*what) const {
    std::vector<std::int64_t> values(steps);
    for (const Entry& entry : entries_) values[entry.step] += entry.*what;
    return values;
  }

  std::vector<Entry> entries_;  // in time order: entries of a step are close to each other, but come from several ranks
};

// kernel: total time in a step. collective: per operation and message size. operation: an operator by name. launch:
// durations of the launches of one compute kernel with one configuration.
enum class QuantityGroup : std::uint8_t { step, idle, work_class, kernel, operation, collective, launch, count_ };

struct Quantity {
  std::string name;  // of a collective: its operation
  // Of a collective: its size is at least this and less than twice this; -1 if unknown
  std::int64_t from_bytes = -1;
  std::string_view measure = {};  // of a collective: time, wait or transfer; of an operator: host or gpu
  std::string configuration = {}, work_class = {};  // of a launch
  auto operator<=>(const Quantity&) const = default;
};

using Quantities = std::map<Quantity, StepSums>;

// A kernel of a step, as an element of the sequences that are compared.
struct SequenceKernel {
  std::uint32_t name = 0;  // index in RunProfile::names
  Extent grid{};           // zeros if unknown
  auto operator<=>(const SequenceKernel&) const = default;
};

// The kernels that were launched in a step, in order of launch.
struct StepSequence {
  std::int64_t step = -1;  // its number
  std::vector<SequenceKernel> kernels;
};

struct RunProfile {
  std::string source;                 // as the user named it
  std::vector<std::int64_t> ranks;    // sorted; -1 for unknown ranks
  std::int64_t gpus = 0;              // number of GPUs; values are sums over them
  std::vector<std::int64_t> steps;    // their numbers, in order; a single 0 for a whole trace
  bool whole = false;                 // not divided into steps: values are those of the whole trace
  std::vector<std::int64_t> warm_up;  // numbers of excluded steps
  std::size_t not_everywhere = 0;     // number of excluded steps that are not complete on every rank
  std::vector<Quantities> groups{static_cast<std::size_t>(QuantityGroup::count_)};
  Quantities parts;                       // disjoint; together they are the step
  std::vector<std::string> names;         // kernel names in the sequences
  std::vector<StepSequence> sequences;    // of some steps, closest to the median length first
  std::int64_t sequence_rank = -1;        // the rank of the sequences
  std::set<std::string> compute_classes;  // classes that contain compute kernels
  std::int64_t resolution_ns = 1;         // of timestamps: 1000 if all durations are whole microseconds
  std::vector<std::string> notes;

  Quantities& group(QuantityGroup which) { return groups[static_cast<std::size_t>(which)]; }
  const Quantities& group(QuantityGroup which) const { return groups[static_cast<std::size_t>(which)]; }
};

inline constexpr std::string_view kStepTime = "step", kBusy = "busy", kExposed = "exposed communication";

}  // namespace cli::comparison
