// Perfetto's native form: a protobuf of packets, some eight times smaller than JSON, for ui.perfetto.dev and
// trace_processor. Ranks are processes, host threads are threads, GPUs hold their streams; times are nanoseconds of the
// wall clock. Protos: https://github.com/google/perfetto/tree/main/protos/perfetto/trace
#pragma once
#include <memory>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/formats/perfetto/proto.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli::perfetto {

// What a native file says of itself: who wrote it, of which ranks, what these lost, and how the clocks of their hosts
// lie on the axis.

// The content of a TraceAttributes message. Of `fits` (null: unknown) the hosts that have a name.
Buffer trace_attributes(const Catalog& catalog, const std::vector<ClockFit>* fits);

}  // namespace cli::perfetto

namespace cli {

std::unique_ptr<Exporter> make_pftrace(const FormatOptions& options);

}  // namespace cli
