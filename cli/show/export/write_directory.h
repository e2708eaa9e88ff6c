// An export into a directory: one file per process.
#pragma once
#include <string>

#include "cli/show/export/export_report.h"

namespace cli {

// Makes the directory where there is none. Files of the same names are replaced, all at the end. The readers of
// such directories take every trace in them, so one that holds another trace is refused. A process without a kept event
// gets no file, and what an earlier export left under its name is removed. Throws Error.
ExportReport write_directory(const ExportJob& job, const std::string& directory);

}  // namespace cli
