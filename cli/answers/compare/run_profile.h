// What a run did in each of its training steps: the quantities that two runs are compared by.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis_table.h"

namespace cli::comparison {

// A quantity in each step, summed over GPUs. Most kernels run in few steps.
class StepSums {
 public:
  void add(std::size_t step, std::int64_t ns, std::int64_t count);
  void add(const StepSums& other) { entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end()); }
  // Of all steps, 0 where there was none.
  std::vector<std::int64_t> ns(std::size_t steps) const { return all(steps, &Entry::ns); }
  std::vector<std::int64_t> counts(std::size_t steps) const { return all(steps, &Entry::count); }

 private:
  struct Entry {
    std::size_t step;
    std::int64_t ns, count;
  };
  std::vector<std::int64_t> all(std::size_t steps, std::int64_t Entry::*what) const;

  std::vector<Entry> entries_;  // by time, so that those of a step are near to each other, but of several ranks
};

// kernel: its times in a step together. collective: of one operation and size of message. operation: of an operator by name. launch: the whole
// durations of the launches of one compute kernel with one configuration.
enum class QuantityGroup : std::uint8_t { step, idle, work_class, kernel, operation, collective, launch, count_ };

struct Quantity {
  std::string name;                 // of a collective its operation
  std::int64_t from_bytes = -1;     // of a collective: its size is at least so much, and less than twice that; -1: unknown
  std::string_view measure = {};    // of a collective: time, wait or transfer; of an operator: host or gpu
  std::string configuration = {}, work_class = {};  // of a launch
  auto operator<=>(const Quantity&) const = default;
};

using Quantities = std::map<Quantity, StepSums>;

// A kernel of a step whose sequence may be compared.
struct SequenceKernel {
  std::uint32_t name = 0;  // in RunProfile::names
  Extent grid{};           // zeros: not known
  auto operator<=>(const SequenceKernel&) const = default;
};

// The kernels that were launched in a step, in that order.
struct StepSequence {
  std::int64_t step = -1;  // its number
  std::vector<SequenceKernel> kernels;
};

struct RunProfile {
  std::string source;                    // as it was named
  std::vector<std::int64_t> ranks;       // ascending; -1: unknown
  std::int64_t gpus = 0;                 // values are sums over so many
  std::vector<std::int64_t> steps;       // their numbers, in order; of a whole trace one, 0
  bool whole = false;                    // no steps: values are those of the whole trace
  std::vector<std::int64_t> warm_up;     // numbers of steps that are left out
  std::size_t not_everywhere = 0;        // steps that not all ranks have as a whole, and that are left out
  std::vector<Quantities> groups{static_cast<std::size_t>(QuantityGroup::count_)};
  Quantities parts;                      // disjoint, and together the step
  std::vector<std::string> names;        // of the sequences
  std::vector<StepSequence> sequences;   // of some steps, the nearest to the median length first
  std::int64_t sequence_rank = -1;       // of this rank
  std::set<std::string> compute_classes;  // classes that contain compute kernels
  std::int64_t resolution_ns = 1;        // of timestamps: 1000 if all durations are whole microseconds
  std::vector<std::string> notes;

  Quantities& group(QuantityGroup which) { return groups[static_cast<std::size_t>(which)]; }
  const Quantities& group(QuantityGroup which) const { return groups[static_cast<std::size_t>(which)]; }
};

inline constexpr std::string_view kStepTime = "step", kBusy = "busy", kExposed = "exposed communication";

}  // namespace cli::comparison
