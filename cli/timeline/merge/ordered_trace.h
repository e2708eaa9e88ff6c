// What commands work on that look at a trace: all inputs as one trace, on one axis, in the order of time (cli/formats/ttrace/walk.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/timeline/merge/input_reading.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"
#include "cli/trace/event.h"

namespace cli {

class OrderedTrace {
 public:
  virtual ~OrderedTrace() = default;

  // Whether walks, Wanted and steps() are by each process's own clock (MergeOptions); fits() puts them on the axis.
  virtual bool has_own_times() const = 0;
  // Complete and unchanging: processes by rank (unknown ones last), then source. Their times are on the axis.
  virtual const Catalog& catalog() const = 0;
  virtual const std::vector<ClockFit>& fits() const = 0;
  // Any number of times, the same each time: all that is wanted, and perhaps more. Returns what it left out.
  virtual NotRead walk(EventSink& sink, const Wanted& wanted = {}) = 0;
  // Several threads may walk at once, each with a sink of its own: all is in memory.
  virtual bool walks_at_once() const { return false; }
  // What was found when the file was made, by ProcessId; empty: nobody looked yet.
  virtual std::vector<ProcessSteps> steps() const { return {}; }

  std::vector<std::string> warnings;  // for the person who asked: one line each
};

// Reads the inputs, several at once (a single merged file only when it is walked). Throws Error, also when a rank comes
// twice; of several faults that of the first input in order.
std::unique_ptr<OrderedTrace> order_traces(const std::vector<TraceInput>& inputs, const MergeOptions& options);

}  // namespace cli
