// What `merge` and `export` work on: all inputs as one trace, on one axis, in the order of time (event_key.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/merge/sort_runs.h"
#include "cli/model/catalog.h"
#include "cli/model/clock_fit.h"
#include "cli/model/steps.h"
#include "cli/model/wanted.h"

namespace cli {

struct TraceInput {
  std::string path;
  std::optional<std::int64_t> rank;  // instead of the one in the file
};

// Called with the events of one input and its own catalogue, which grows; each input has its own copy.
using EventChoice = std::function<bool(const Catalog& catalog, const Event& event)>;

struct MergeOptions {
  bool align = true;
  std::size_t memory_bytes = kDefaultMemory;
  std::string scratch_folder = ".";
  // Empty: all events. Else those that it does not choose may be missing, but for the first and the last of each process, and
  // foreign arguments, too: to sort what nobody looks at is what takes the time.
  EventChoice choice = {};
  // Inputs that are read at once, at most; 0: as many as there are cores. The trace is the same in any case.
  std::size_t threads = 0;
};

class OrderedTrace {
 public:
  virtual ~OrderedTrace() = default;

  // Complete and unchanging: processes by rank (unknown ones last), then source.
  virtual const Catalog& catalog() const = 0;
  virtual const std::vector<ClockFit>& fits() const = 0;
  // Any number of times, the same each time: all that is wanted, and perhaps more. Returns what it left out.
  virtual NotRead walk(EventSink& sink, const Wanted& wanted = {}) = 0;
  // Once, instead of walk(): at the times of each process's own clock, in the order of time for each process alone.
  virtual void walk_own_times(EventSink& sink) = 0;
  // What was found when the file was made, by ProcessId; empty: nobody looked yet.
  virtual std::vector<ProcessSteps> steps() const { return {}; }

  std::vector<std::string> warnings;  // for the person who asked: one line each
};

// Reads the inputs, several at once (a single merged file only when it is walked). Throws Error, also when a rank comes
// twice; of several faults that of the first input in order.
std::unique_ptr<OrderedTrace> order_traces(const std::vector<TraceInput>& inputs, const MergeOptions& options);

}  // namespace cli
