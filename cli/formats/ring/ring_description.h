// What the header of a recording says of its process.
#pragma once
#include "cli/trace/catalog.h"
#include "cli/formats/ring/ring_file.h"

namespace cli {

// All that is known before the records are read.
Process describe_recording(const RingFile& file);

// Reads the header, the definitions and the headers of the blocks: who it was, and what was overwritten
// (RingFile::count_overwritten) and lost. first_ns and last_ns are the recording's begin and its last
// sign of life. Throws Error.
Process survey_recording(const std::string& path);

// After they were read: what was overwritten and lost, and what else a user should know of how it was recorded.
void add_losses(const RingFile& file, Process& process);

}  // namespace cli
