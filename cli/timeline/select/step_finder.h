// Finds the training steps of each process: ranges on its host threads (NVTX, user annotations, and operators, as which
// older torch.profiler wrote ProfilerStep#N) with the names in step_name.h. If a process named no steps, they are
// derived from PyTorch's optimizers, or else from the period of its kernels (step_period.h). The GPU time of each step
// follows from the launches (step_times.h).
//
// Only the first family of names that a process has is used. If ranges overlap, a range with the number of the open
// step is the same step on another thread; the step lasts until the later end. A range with another number is part of
// the open step if it ends within it, otherwise a separate step. A repeated number later (the next epoch) is another
// step. A range without an end lasts until the next step begins, or until the process's events end.
//
// Memory: 64 bytes per step, 24 per mark, one byte per string and 24 per outermost range. For processes that have not
// ended and have named no step, also the memory of step_period.h (about four million kernels in all, but at least
// 16,384 per process, since fewer do not contain two steps: 0.7 GB for 1,024 processes) and the launch calls
// (launch_calls.h).
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/timeline/select/step_name.h"
#include "cli/timeline/select/step_numbers.h"
#include "cli/timeline/select/step_period.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/event.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/names.h"
#include "cli/trace/payload.h"
#include "cli/trace/steps.h"

namespace cli {

// Derives steps from the marks that PyTorch makes, for a program that named none. A step ends at the end of the last
// Optimizer.step#... before the next forward pass or batch; the next step begins there.
//
// Several optimizers of one step (Optimizer.step#Muon.step, Optimizer.step#AdamW.step) form one end if they follow each
// other: different optimizers without a forward pass or batch between them, and closer than a quarter of the time after
// which one of them repeats (many programs have no forward mark). The first step begins with the first forward pass or
// batch. If there is none before the step's end, the step is omitted because its start is unknown. Gradient
// accumulation is part of a step.
class OptimizerSteps {
 public:
  // Adds a mark of the process. Marks have to be added by start.
  void add(StepMark mark, StringId name, std::int64_t start_ns, std::int64_t end_ns);
  // Returns the steps, numbered from 0. Called after the last mark.
  std::vector<Step> steps() const;

 private:
  struct Optimizer {
    StringId name;
    std::int64_t start_ns, end_ns;
    bool after_begin;  // a forward pass or a batch came since the one before
  };
  std::int64_t usual_distance_ns() const;

  std::vector<Optimizer> optimizers_;
  std::optional<std::int64_t> first_ns_;  // the first forward pass or batch, if it precedes the optimizers
  bool has_begun_ = false;
};

class StepFinder : public EventSink {
 public:
  // The catalogue is complete and has to outlive this. `clocks` belong to the events if the catalogue's times are on
  // the axis.
  explicit StepFinder(const Catalog& catalog, const ProcessClocks& clocks = {});

  // Adds an event. All events of a process have to be added, by start, on one clock.
  void event(const Event& event, const Facts& facts) override;
  // Frees the memory of a process after its last event. Calling it is optional.
  void end_of(ProcessId process) override;

  // Returns the steps found, by ProcessId. Called once, after the last event. Unnamed steps are numbered from 0 in each
  // process (step_numbers.h).
  std::vector<ProcessSteps> take();

 private:
  enum class Name : std::uint8_t { unseen, no_step, step, optimizer, begin };
  struct Found {
    Step step;
    bool open = false;  // has no end yet
  };
  struct Range {
    StringId name;
    std::int64_t start_ns, end_ns;
  };
  struct Seen {
    std::array<std::vector<Found>, kStepFamilies> families;
    OptimizerSteps optimizers;
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    StepTimes times;
    LaunchShare launches;
    bool records_calls = false;
    std::optional<WorkSequence> kernels;  // nullopt if the process has named a step
    std::vector<LaunchedCopy> copies;     // used while `kernels` is set
    std::vector<Range> ranges;            // outermost ranges of each thread; used while `kernels` is set
    std::unordered_map<TrackId, std::int64_t> ranges_end_ns;  // end of the newest range, by thread
  };

  Name kind_of(StringId name);
  static void add(std::vector<Found>& steps, const Found& next);
  void add_range(Seen& seen, const Event& event);
  static void add_outermost(Seen& seen, const Event& event);
  void drop_repeats(const std::vector<Range>& ranges, ProcessSteps& of) const;
  void add_work(ProcessId process, const Event& event, const Facts& facts);
  void add_to_sequence(Seen& seen, const Event& event, const Facts& facts, const LaunchCall* call);

  const Catalog* catalog_;
  TimeBounds bounds_;
  std::vector<Seen> processes_;
  std::vector<ProcessSteps> found_;  // of processes that have ended
  std::vector<Name> names_;
  NameClasses classes_;
  LaunchCalls calls_;
};

}  // namespace cli
