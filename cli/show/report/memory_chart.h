// The chart of memory over time, for the page of `tracetool mem` and the report.
#pragma once
#include "cli/answers/memory/memory_tables.h"
#include "cli/show/report/html.h"

namespace cli::report {

// Writes a chart of the memory in use, divided into groups. Writes nothing if the device has no memory in use.
void write_memory_chart(Html& page, const memory::Input& input, const memory::DeviceMemory& device, memory::GroupBy by);

}  // namespace cli::report
