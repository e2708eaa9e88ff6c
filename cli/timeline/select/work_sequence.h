// The kernels of one process, which come by their start on the GPU, put into the order of their launches, and the steps that
// follow from it (step_period.h).
//
// The number that CUPTI gives a call that launches ascends from call to call, of all threads, and kernels have it even where the
// call itself was not recorded: it is the order. Of a graph's launch, the nodes' numbers.
//
// Memory: 48 bytes a kernel until the period is looked for: at the end, or when `most` have come. From then on an eighth of
// them wait at most: a sixteenth as long as one that was launched earlier may come.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/payload.h"
#include "cli/timeline/select/step_period.h"

namespace cli {

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
