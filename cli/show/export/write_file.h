// An export into one file, or into parts of it where it would be too large.
#pragma once
#include <cstdint>
#include <string>

#include "cli/show/export/export_report.h"

namespace cli {

// "-" is stdout, which is never split. The segments are run.segment1.json.gz, run.segment2.json.gz, ... for run.json.gz; each
// opens by itself. They hold what the whole would hold, each event once, but no flow from one to another. Writing
// parts takes twice as long: sizes are known only once all was written. `limit_bytes` is of uncompressed bytes; 0: no
// parts. All parts get their names at the end; what an earlier export left under such names is noted. Throws Error.
ExportReport write_file(const ExportJob& job, const std::string& output, std::uint64_t limit_bytes);

}  // namespace cli
