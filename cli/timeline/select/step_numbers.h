// Gives a step the same number on all ranks. Programs number their named steps alike. Unnamed steps count from 0 on
// each rank, from the beginning of its recording. Within one run (and one phase of it), the numbers of each rank are
// shifted so that most of its steps have the number of the step that runs at the same time, on the axis, on the rank
// with most steps. The first step of all is then 0 again. Ranks run in lockstep, so clocks may be wrong by half a step.
//
// If some ranks of the run name their steps, the other ranks get the numbers of the named rank with most steps.
//
// A rank counts by itself if it has no time in common with that rank, or if that rank names its steps and one shift
// would match at most half of the steps (a period may be two steps). ProcessSteps::alike is then false.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"

namespace cli {

// `steps` are indexed by ProcessId, on each process's own clock as described by `clocks`.
void number_alike(std::vector<ProcessSteps>& steps, const Catalog& catalog, const ProcessClocks& clocks);

// Finds when the GPU work launched in each step of a process ended (cli/trace/steps.h), in one walk ordered by time.
// Steps are known only at its end, so work is summed up between the moments at which a step may begin or end.
//
// Memory: 24 bytes for each such moment.
class StepTimes {
 public:
  // Adds a moment on the host at which a step may begin or end. Launches added before are not later.
  void bound(std::int64_t ns);
  // Adds GPU work by the time of its launch.
  void add(std::int64_t launched_ns, std::int64_t end_ns, bool is_kernel);
  // Adds work without a launch in the trace. If it began before any other work, it was launched before the trace
  // begins.
  void add_unlaunched(std::int64_t end_ns);

  // Sets the GPU times of steps, whose bounds have to be given moments, and the number of kernels that each launched.
  void finish(std::vector<Step>& steps) const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  struct Span {
    std::int64_t from_ns = kNever;  // until the next span
    std::int64_t end_ns = kNever;   // end of its last work
    std::int64_t kernels = 0;
  };
  std::vector<Span> spans_ = std::vector<Span>(1);
  bool has_launched_ = false;
};

// Adds copies and memsets to steps whose GPU times were set from kernels (select/step_period.h).
struct LaunchedCopy {
  std::int64_t launched_ns = 0, end_ns = 0;
};
void add_copies(std::vector<LaunchedCopy> copies, std::vector<Step>& steps);

}  // namespace cli
