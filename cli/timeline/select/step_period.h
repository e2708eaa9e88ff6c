// The period of a process's kernels, and steps by it: for programs that name no steps.
//
// Kernels in the order of their launches are a sequence of numbers, one for each name and grid; a training step is a piece of it
// that comes again. Each six neighbours vote for the distance to where they were last, the rarer the more; of the distances
// with most votes the one counts at which most kernels are the same as those so far before, and of equal ones the shortest.
// It is taken where four fifths of them are. Where grids vary from step to step, the names decide alone. Several
// optimizers that take turns have one period together.
//
// The period is exact; where in it a step begins is a convention: at its largest gap between launches, the median over the
// periods, when the kernel before the gap had been launched. So the time that a host waits for its data is its step's.
// A step ends where its last kernel was launched, or, where the sequence is another one, where the next step begins. What is
// launched between steps, as an evaluation is, belongs to none. A step that the trace does not hold as a whole is none: nor one that
// began before it, of which only the GPU's work is there.
//
// Layers come again, too, and have a period of their own if the trace holds less than two steps. So steps hold four fifths of
// the kernels that were launched in the trace, with the parts of steps that it cuts off, or else there are none: forward layers,
// backward layers and an optimizer are not one period. Steps are also the outermost repetition. Repeats are a part of one
// iteration, and no steps, if a range of the program holds two whole repeats or more, or if the trace launches, before the first
// and after the last of them, kernels that it launches nowhere else: an embedding and a head around the layers of a model. A trace of a
// loop that begins or ends within a step launches parts of steps there. Nothing is repeated as often as kMostLayers but steps.
//
// Idea of votes: Ketterlin & Clauss, "Prediction and trace compression of data access addresses through nested loop
// recognition" (CGO 2008) looks for all loops; here the outermost is enough.
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

// A kernel, or a graph of which no kernels were recorded.
struct LaunchedWork {
  std::int64_t order = 0;  // of its launch: ascending; the same for what one launch of a graph consists of
  std::int64_t launched_ns = 0, returned_ns = kNotReturned;  // of the call; where that is not known, launched_ns is its start on the GPU
  std::int64_t end_ns = 0;              // on the GPU
  std::uint32_t node = 0, arrival = 0;  // what orders the work of one launch
  std::uint32_t name = 0, grid = 0;     // the same for the same ones

  static constexpr std::int64_t kNotReturned = INT64_MIN;
  std::uint32_t id(bool by_names) const { return by_names ? name : name * 0x9e3779b1u ^ grid; }
};

// Of work in the order of launches. O(n); 24 bytes a kernel, for as long as it takes.
KernelPeriod find_period(std::span<const LaunchedWork> work);

// Finds the steps of a sequence whose period is known, and holds only what a step begins with.
class StepCutter {
 public:
  // `work` in the order of launches: enough of it to find where steps begin. The period is accepted.
  StepCutter(std::span<const LaunchedWork> work, const KernelPeriod& period);

  // All of it, in the order of launches, from the first one on.
  void add(const LaunchedWork& next);
  // After the last one, once: numbered from 0, and with the number of kernels of each; none where they hold too few of all.
  void finish(ProcessSteps& of) const;

 private:
  static constexpr std::size_t kMostLayers = 256, kMostOthers = 4096;
  struct Found {
    std::uint64_t at;  // in the sequence
    Step step;         // not numbered yet
    bool is_launched;
  };
  struct Seen {
    std::uint32_t id;
    std::int64_t launched_ns, returned_ns;
    std::int64_t ended_ns;  // on the GPU, with everything before it in the sequence
  };
  struct Open {
    std::uint64_t at;  // in the sequence
    std::int64_t start_ns, gpu_start_ns;
    bool is_launched;  // the call is known that launched its first kernel
  };

  bool is_within_one(std::uint64_t begin, std::uint64_t end) const;
  const Seen& back(std::size_t places) const { return last_[(count_ - 1 - places) % last_.size()]; }
  bool ends_with(const std::vector<std::uint32_t>& ids) const;
  void close(std::uint64_t at, std::int64_t end_ns, std::int64_t gpu_end_ns);
  std::int64_t repeated(std::span<const Found> kept, std::uint64_t first) const;

  KernelPeriod period_;
  std::vector<std::uint32_t> head_, tail_;  // what a step begins and ends with
  std::vector<Seen> last_;                  // a ring
  std::uint64_t count_ = 0;
  std::optional<std::uint64_t> first_launched_;  // the first one whose call is known
  std::optional<Open> open_;
  std::vector<Found> found_;
  std::unordered_set<std::uint32_t> repeated_names_;
  std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> others_;  // by name that is not repeated: first and last place
};

// The kernels of one process, which come by their start on the GPU, put into the order of their launches, and the steps that
// follow from it (step_period.h).
//
// The number that CUPTI gives a call that launches ascends from call to call, of all threads, and kernels have it even where the
// call itself was not recorded: it is the order. Of a graph's launch, the nodes' numbers.
//
// Memory: 48 bytes a kernel until the period is looked for: at the end, or when `most` have come. From then on an eighth of
// them wait at most: a sixteenth as long as one that was launched earlier may come.
class WorkSequence {
 public:
  // `expected`: how many will come; 0: not known. There is room for them from the first one on, so that none is moved.
  explicit WorkSequence(std::size_t most, std::size_t expected = 0) : most_(most), expected_(expected) {}

  // `work.order` is the number of its launch, as it was recorded; `arrival` is set here.
  void add(LaunchedWork work);
  // After the last one, once: gives `of` its steps, and what was found of the period.
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
