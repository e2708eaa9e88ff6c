// One number for one step on all ranks. Programs number their steps alike; those of other steps count
// from 0 on each rank, whose recording begins when it begins. Of those of one run (and of one phase of it) each rank's are
// moved by the number that puts most of them beside what runs at the same time, on the axis, on the rank with most steps;
// the first step of all is 0 again. Ranks run in step, so that clocks may be wrong by a half of a step.
//
// Where some ranks of the run name their steps, the others' get the numbers of the named rank with most steps.
//
// A rank that shares no time with that one counts by itself, and so does one that would be moved by one number for no more than half of its
// steps, where that one names its steps (a period may be two of them): ProcessSteps::alike says which do not.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"

namespace cli {

// `steps` by ProcessId, by each process's own clock, of which `clocks` tell.
void number_alike(std::vector<ProcessSteps>& steps, const Catalog& catalog, const ProcessClocks& clocks);

// When the GPU work ended that a process launched in each of its steps (cli/trace/steps.h), in one walk in the order of time, although
// steps are only known at its end: work is summed up between the moments at which a step may begin or end.
//
// Memory: 24 bytes for each such moment.
class StepTimes {
 public:
  // A step may begin or end at this moment on the host. Launches that were added before are not later.
  void bound(std::int64_t ns);
  // GPU work, by the time of its launch.
  void add(std::int64_t launched_ns, std::int64_t end_ns, bool is_kernel);
  // Work without a launch in the trace. What began before any other work was launched before the trace begins.
  void add_unlaunched(std::int64_t end_ns);

  // Sets the GPU times of steps that are bounded by given moments, and how many kernels each launched.
  void finish(std::vector<Step>& steps) const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  struct Span {
    std::int64_t from_ns = kNever;  // to the next span
    std::int64_t end_ns = kNever;   // of its last work
    std::int64_t kernels = 0;
  };
  std::vector<Span> spans_ = std::vector<Span>(1);
  bool has_launched_ = false;
};

// The same for steps whose kernels already set their GPU times (select/step_period.h): adds copies and memsets.
struct LaunchedCopy {
  std::int64_t launched_ns = 0, end_ns = 0;
};
void add_copies(std::vector<LaunchedCopy> copies, std::vector<Step>& steps);

}  // namespace cli
