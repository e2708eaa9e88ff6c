// Exports reports of Nsight Systems (*.nsys-rep) with the program nsys, because their format is not published.
#pragma once
#include <string>
#include <vector>

namespace cli {

// Returns the path of a report's SQLite export: next to the report, with the ending .sqlite. Runs `nsys export` unless
// the file exists and is not older than the report. Throws Error (cannot_open) if nsys is missing or fails.
std::string exported_report(const std::string& report);

// Replaces the reports among `paths`, which may be globs, by their exports. Exports the reports in and below
// directories, so that a search in the directory finds the exports.
std::vector<std::string> with_exported_reports(const std::vector<std::string>& paths);

}  // namespace cli
