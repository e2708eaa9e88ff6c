// The trace that commands work on: all inputs as one trace on one axis, ordered by time
// (cli/formats/ttrace/walk.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/timeline/merge/input_reading.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/event.h"
#include "cli/trace/steps.h"

namespace cli {

class OrderedTrace {
 public:
  virtual ~OrderedTrace() = default;

  // Returns true if walks, Wanted and steps() use each process's own clock (MergeOptions); fits() convert these times
  // to the axis.
  virtual bool has_own_times() const = 0;
  // The catalogue, complete and constant, with times on the axis. Processes are sorted by rank (unknown ones last),
  // then source.
  virtual const Catalog& catalog() const = 0;
  virtual const std::vector<ClockFit>& fits() const = 0;
  // Walks over all wanted events, and possibly others. May be repeated; each walk gives the same. Returns what was not
  // read.
  virtual NotRead walk(EventSink& sink, const Wanted& wanted = {}) = 0;
  // Returns true if several threads may walk at once, each with its own sink, because everything is in memory.
  virtual bool walks_at_once() const { return false; }
  // Returns the steps found when the file was made, by ProcessId; empty if steps were not searched then.
  virtual std::vector<ProcessSteps> steps() const { return {}; }

  std::vector<std::string> warnings;  // for the user: one line each
};

// Reads the inputs, several at once; a single merged file is read only when it is walked. Throws Error, also for
// duplicate ranks; if several inputs fail, the error of the first one in order.
std::unique_ptr<OrderedTrace> order_traces(const std::vector<TraceInput>& inputs, const MergeOptions& options);

}  // namespace cli
