// A Kineto profile: one file per process in the schema of PyTorch's profiler, for HTA, TensorBoard and TraceLens. The
// exporter is given the events of one process only.
//
// A Kineto file comes back as it was: its members, metadata, tracks, ids, args, and times with exactly three decimals.
// Not kept: white space, the order of events (ours is that of time), decimals below a nanosecond, durations that are
// missing or negative (0), ids of flows that are text (numbers instead), members of events that no writer of such
// files uses; B and E are one X.
//
// A recording becomes what Kineto would have written, as far as it is known: names, categories, tracks and args by its
// table, flows ac2g, one call for each correlation (overhead, and a driver's call within the runtime's, which Kineto
// does not record, have a "call correlation"), External ids and flows fwdbwd of operators (operators.h), ProfilerStep#N for the
// steps that were found, calls of Python from the stacks of operators (frames.h). HTA leaves out
// the last step and what was launched from there on, as with torch.profiler's own files;
// TraceAnalysis(include_last_profiler_step=True) keeps it.
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"

namespace cli::kineto {

std::unique_ptr<Exporter> make_exporter(const FormatOptions& options = {});

}  // namespace cli::kineto
