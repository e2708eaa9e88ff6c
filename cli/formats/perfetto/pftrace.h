// Perfetto's native form: a protobuf of packets, some eight times smaller than JSON, for ui.perfetto.dev and
// trace_processor. Ranks are processes, host threads are threads, GPUs hold their streams; times are nanoseconds of the
// wall clock. Protos: https://github.com/google/perfetto/tree/main/protos/perfetto/trace
#pragma once
#include <memory>

#include "cli/formats/export/exporter.h"
#include "cli/formats/export/format_options.h"

namespace cli {

std::unique_ptr<Exporter> make_pftrace(const FormatOptions& options);

}  // namespace cli
