// Finds the period of a process's kernels, and derives steps from it for programs that name no steps.
//
// Kernels in launch order are a sequence of numbers, one for each name and grid; a training step is a repeated part of
// it. Each group of six neighbours votes for the distance to its last occurrence; rare groups have more votes. Among
// the distances with most votes, the one with most equal kernels at that distance is chosen, and among equal ones the
// shortest. It is accepted if four fifths of the kernels match. If grids vary from step to step, only names are
// compared. Several optimizers that take turns have one common period.
//
// The period is exact. The start of a step within it is a convention: at its largest gap between launches (median over
// the periods), when the kernel before the gap has been launched. The time in which a host waits for data therefore
// belongs to the step that uses the data. A step ends when its last kernel has been launched or, if the sequence
// changes, when the next step begins. Work launched between steps, such as an evaluation, belongs to no step. Steps
// that the trace does not fully contain are omitted, including a step of which only the GPU work is in the trace.
//
// Layers also repeat, and have their own period if the trace contains fewer than two steps. Steps are therefore
// reported only if they contain four fifths of the launched kernels, including the partial steps at the ends of the
// trace: forward layers, backward layers and an optimizer do not form one period. Steps also have to be the outermost
// repetition. Repeats are part of one iteration, and no steps, if a range of the program contains two whole repeats or
// more, or if the trace launches other kernels before the first and after the last repeat that occur nowhere else (an
// embedding and a head around the layers of a model). A trace that begins or ends within a step launches parts of steps
// there. Only steps repeat as often as kMostLayers.
//
// The votes are based on Ketterlin & Clauss, "Prediction and trace compression of data access addresses through nested
// loop recognition" (CGO 2008), which finds all loops; here the outermost one is enough.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/payload.h"
#include "cli/trace/steps.h"

namespace cli {

// A kernel, or a CUDA graph launch without recorded kernels.
struct LaunchedWork {
  std::int64_t order = 0;  // order of its launch, ascending; equal for all work of one graph launch
  // Times of the call; if unknown, launched_ns is the start on the GPU
  std::int64_t launched_ns = 0, returned_ns = kNotReturned;
  std::int64_t end_ns = 0;              // on the GPU
  std::uint32_t node = 0, arrival = 0;  // order of work within one launch
  std::uint32_t name = 0, grid = 0;     // equal for equal names and grids

  static constexpr std::int64_t kNotReturned = INT64_MIN;
  std::uint32_t id(bool by_names) const { return by_names ? name : name * 0x9e3779b1u ^ grid; }
};

// Finds the period of work in launch order. Time: O(n). Uses 24 bytes per kernel while it runs.
KernelPeriod find_period(std::span<const LaunchedWork> work);

// Finds the steps of a sequence with a known period. Keeps only what is needed to recognize the beginning of a step.
class StepCutter {
 public:
  // `work` is in launch order and sufficient to find where steps begin. `period` is accepted.
  StepCutter(std::span<const LaunchedWork> work, const KernelPeriod& period);

  // Adds work. All work has to be added, in launch order, from the first on.
  void add(const LaunchedWork& next);
  // Sets the steps, numbered from 0, and the number of kernels of each. Sets none if the steps contain too few of all
  // kernels. Called once, after the last add().
  void finish(ProcessSteps& of) const;

 private:
  static constexpr std::size_t kMostLayers = 256, kMostOthers = 4096;
  struct Found {
    std::uint64_t at;  // position in the sequence
    Step step;         // number not set yet
    bool is_launched;
  };
  struct Seen {
    std::uint32_t id;
    std::int64_t launched_ns, returned_ns;
    std::int64_t ended_ns;  // end on the GPU of this work and everything before it in the sequence
  };
  struct Open {
    std::uint64_t at;  // position in the sequence
    std::int64_t start_ns, gpu_start_ns;
    bool is_launched;  // the call that launched its first kernel is known
  };

  bool is_within_one(std::uint64_t begin, std::uint64_t end) const;
  const Seen& back(std::size_t places) const { return last_[(count_ - 1 - places) % last_.size()]; }
  bool ends_with(const std::vector<std::uint32_t>& ids) const;
  void close(std::uint64_t at, std::int64_t end_ns, std::int64_t gpu_end_ns);
  std::int64_t repeated(std::span<const Found> kept, std::uint64_t first) const;

  KernelPeriod period_;
  std::vector<std::uint32_t> head_, tail_;  // kernels at the beginning and end of a step
  std::vector<Seen> last_;                  // ring buffer
  std::uint64_t count_ = 0;
  std::optional<std::uint64_t> first_launched_;  // the first work with a known call
  std::optional<Open> open_;
  std::vector<Found> found_;
  std::unordered_set<std::uint32_t> repeated_names_;
  // By name that does not repeat: first and last position
  std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> others_;
};

// Sorts the kernels of one process, which arrive by their start on the GPU, into launch order, and derives the steps
// (step_period.h).
//
// The launch order is CUPTI's correlation id: it ascends from call to call over all threads, and kernels have it even
// if the call was not recorded. Work of one graph launch is ordered by the node ids.
//
// Memory: 48 bytes per kernel until the period is searched, which happens at the end or after `most` kernels. From then
// on at most an eighth of them wait, a sixteenth of them because an earlier launch may still arrive.
class WorkSequence {
 public:
  // `expected` is the expected number of kernels, 0 if unknown. Memory for them is reserved at the first one, so that
  // none is moved.
  explicit WorkSequence(std::size_t most, std::size_t expected = 0) : most_(most), expected_(expected) {}

  // `work.order` is the recorded number of its launch. `arrival` is set here.
  void add(LaunchedWork work);
  // Sets the steps and the data about the period. Called once, after the last add().
  void finish(ProcessSteps& of);

 private:
  std::int64_t continued(std::int64_t number);
  void decide(std::size_t sure);

  std::size_t most_, expected_;
  std::vector<LaunchedWork> held_;
  std::int64_t last_order_ = 0;
  std::uint32_t arrivals_ = 0;
  bool decided_ = false;
  KernelPeriod period_;
  std::optional<StepCutter> cutter_;
};

}  // namespace cli
