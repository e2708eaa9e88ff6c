// An export into a folder: one file per process.
#pragma once
#include <string>

#include "cli/export/parts/export_report.h"

namespace cli {

// Makes the folder where there is none. Files of the same names are replaced, all at the end. The readers of
// such folders take every trace in them, so one that holds another trace is refused. A process without a kept event
// gets no file, and what an earlier export left under its name is removed. Throws Error.
ExportReport write_folder(const ExportJob& job, const std::string& folder);

}  // namespace cli
