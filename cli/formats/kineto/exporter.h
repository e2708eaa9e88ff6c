// Writes a Kineto profile: one file per process in the schema of PyTorch's profiler, for HTA, TensorBoard and
// TraceLens. The exporter receives only the events of one process.
//
// A Kineto file is reproduced: its members, metadata, tracks, ids, args, and times with exactly three decimals. Not
// preserved: white space, the order of events (they are sorted by time), decimals below a nanosecond, missing or
// negative durations (0), text ids of flows (replaced by numbers), and members of events that no writer of such files
// uses. B and E become one X.
//
// A recording is written as Kineto would have written it, as far as the data is known: names, categories, tracks and
// args by its table, flows ac2g, one call per correlation (overhead, and a driver call within a runtime call, which
// Kineto does not record, have a "call correlation"), External ids and flows fwdbwd of operators (operators.h),
// ProfilerStep#N for the steps found, Python calls from the stacks of operators (frames.h). HTA omits the last
// step and everything launched after its beginning, as with torch.profiler's own files;
// TraceAnalysis(include_last_profiler_step=True) keeps it.
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"

namespace cli::kineto {

std::unique_ptr<Exporter> make_exporter(const FormatOptions& options = {});

}  // namespace cli::kineto
