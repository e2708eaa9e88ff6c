// Reads reports of Nsight Systems that `nsys export --type sqlite` wrote. Columns are found by name, and absent columns
// are NULL, because each version of the schema adds some. The order of rows has no meaning. A report may contain several
// processes. Each has its own correlation ids and becomes a Process.
//
// The schema is in the User Guide of Nsight Systems, "SQLite Schema Reference".
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/formats/reading/reader.h"

namespace cli::nsys {

// Returns true for any SQLite file.
bool is_sqlite(std::string_view first_bytes);
// Returns true for names of reports that have to be exported first (*.nsys-rep).
bool is_report_name(std::string_view path);
// Returns the command for a shell that exports a report.
std::string export_command(const std::string& report, const std::string& exported);
// Throws Error (bad_content) with the command that exports the report.
[[noreturn]] void refuse_report(const std::string& path);

// Throws Error.
std::unique_ptr<Reader> open(const std::string& path);
// Returns the start of the session in ns since 1970; 0 if unknown, empty if the file is no report. Throws Error.
std::optional<std::int64_t> peek_start_ns(const std::string& path);

}  // namespace cli::nsys
