// Names of outputs that are several files.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/show/export/export_job.h"
#include "cli/trace/catalog.h"

namespace cli {

// "run.json.gz", 2 of 12 -> "run.segment02.json.gz"; numbers are from 1.
std::string part_name(const std::string& output, std::size_t number, std::size_t count);

// Whether a file beside `output` has the name of a part of it, of however many.
bool is_part_name(std::string_view file_name, const std::string& output);

// By ProcessId: "rank3.json.gz", "rank3-model_init.json.gz" for a phase; a process without a rank is named by its
// source. What would come twice gets a number: "worker-2.json.gz".
std::vector<std::string> process_file_names(const Catalog& catalog, std::string_view extension);

// An export into a directory: one file per process.

// Makes the directory where there is none. Files of the same names are replaced, all at the end. The readers of
// such directories take every trace in them, so one that holds another trace is refused. A process without a kept event
// gets no file, and what an earlier export left under its name is removed. Throws Error.
ExportReport write_directory(const ExportJob& job, const std::string& directory);

}  // namespace cli
