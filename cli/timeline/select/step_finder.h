// Finds the training steps of each process: ranges on its host threads (NVTX, user annotations, and the operators as
// which older torch.profiler wrote ProfilerStep#N) whose names are in step_name.h. Those of a process that named none follow
// from PyTorch's optimizers, else from the period of its kernels (step_period.h), where they have one.
// When the work of each step ran on the GPU follows from the launches (step_times.h).
//
// Of one process only the first family of names counts that it has. Of ranges that overlap, one with the number of the
// open step is the same step, seen on another thread: the step lasts until the later end. One with another number is
// part of the open step when it ends in it, else a step of its own. A number that comes again later (the next epoch)
// is another step. A range without an end lasts until the next step begins, else to the end of its process's events.
//
// Memory: 64 bytes a step and 24 a mark, one byte a string, 24 bytes an outermost range; in addition, for processes that have not ended and have named no step, the memory of step_period.h: about
// four million kernels in all, but of 16,384 of each process at least, since fewer hold no two steps (0.7 GB of 1,024 processes), and
// the calls that launch (launch_calls.h).
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/timeline/select/step_name.h"
#include "cli/timeline/select/step_period.h"
#include "cli/timeline/select/step_numbers.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/event.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/names.h"
#include "cli/trace/payload.h"
#include "cli/trace/steps.h"

namespace cli {

// Training steps of a program that named none, from the marks that PyTorch itself makes: a step ends where the last
// Optimizer.step#... before the next forward pass or batch ends, and the next one begins there.
//
// Several optimizers of one step (Optimizer.step#Muon.step, Optimizer.step#AdamW.step) are one end where they follow each other:
// each another one, with neither a forward pass nor a batch between, nor a quarter of the time in which one of them comes again
// (many programs have no mark of a forward pass). The first step begins with the first forward pass or batch; without one before
// its end it is left out, since nothing says where it began. Gradient accumulation is part of a step.
class OptimizerSteps {
 public:
  // Of one process, by start.
  void add(StepMark mark, StringId name, std::int64_t start_ns, std::int64_t end_ns);
  // After the last mark; numbers count from 0.
  std::vector<Step> steps() const;

 private:
  struct Optimizer {
    StringId name;
    std::int64_t start_ns, end_ns;
    bool after_begin;  // a forward pass or a batch came since the one before
  };
  std::int64_t usual_distance_ns() const;

  std::vector<Optimizer> optimizers_;
  std::optional<std::int64_t> first_ns_;  // the first forward pass or batch, where it comes before them
  bool has_begun_ = false;
};

class StepFinder : public EventSink {
 public:
  // The catalogue is complete and outlives this. `clocks`: those of the events, if they put the catalogue's times on the axis.
  explicit StepFinder(const Catalog& catalog, const ProcessClocks& clocks = {});

  // All events of a process, by start, on one clock.
  void event(const Event& event, const Facts& facts) override;
  // Frees the memory of a process after its last event. Calling it is optional.
  void end_of(ProcessId process) override;

  // After the last event, once: what was found, by ProcessId. Numbers of steps that nobody named count from 0 in each process
  // (step_numbers.h).
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
    std::optional<WorkSequence> kernels;  // none: it has named a step
    std::vector<LaunchedCopy> copies;     // as long as `kernels` is there
    std::vector<Range> ranges;            // the outermost ones of each thread; the same
    std::unordered_map<TrackId, std::int64_t> ranges_end_ns;  // of the newest of them, by thread
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
