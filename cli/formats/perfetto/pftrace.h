// Writes Perfetto's native format, a protobuf of packets that is about eight times smaller than JSON, for
// ui.perfetto.dev and trace_processor. Ranks are processes, host threads are threads, GPUs contain their streams. Times
// are nanoseconds of the wall clock. Protos: https://github.com/google/perfetto/tree/main/protos/perfetto/trace
#pragma once
#include <memory>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/formats/perfetto/proto.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli::perfetto {

// Attributes of a native file: its writer, its ranks, their losses, and the alignment of their hosts' clocks.

// Returns the content of a TraceAttributes message. Uses the fits of hosts with a name; `fits` is null if unknown.
Buffer trace_attributes(const Catalog& catalog, const std::vector<ClockFit>* fits);

}  // namespace cli::perfetto

namespace cli {

std::unique_ptr<Exporter> make_pftrace(const FormatOptions& options);

}  // namespace cli
