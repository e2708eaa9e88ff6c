// Names of outputs that consist of several files.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/show/export/export_job.h"
#include "cli/trace/catalog.h"

namespace cli {

// Returns, for segment 2 of 12 of "run.json.gz", "run.segment02.json.gz". Numbers start at 1.
std::string part_name(const std::string& output, std::size_t number, std::size_t count);

// Returns true if `file_name`, in the directory of `output`, is the name of a segment of it, for any number of
// segments.
bool is_part_name(std::string_view file_name, const std::string& output);

// By ProcessId: "rank3.json.gz", "rank3-model_init.json.gz" for a phase; a process without a rank is named after its
// source. Duplicates get a number: "worker-2.json.gz".
std::vector<std::string> process_file_names(const Catalog& catalog, std::string_view extension);

// Exports into a directory: one file per process. Creates the directory if it does not exist. Files with the same names
// are replaced, all at the end. Readers of such directories read every trace in them, so a directory that contains
// another trace is an error. A process without kept events gets no file, and an earlier export's file with its name is
// removed. Throws Error.
ExportReport write_directory(const ExportJob& job, const std::string& directory);

}  // namespace cli
