// The header of a recording: what it says of its process, and recordings that lost it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/formats/ring/file.h"
#include "cli/trace/catalog.h"
#include "common/layout.h"

namespace cli::ring {

// What the header of a recording says of its process.

// All that is known before the records are read.
Process describe_recording(const RingFile& file);

// Reads the header, the definitions and the headers of the blocks: who it was, and what was overwritten
// (RingFile::count_overwritten) and lost. first_ns and last_ns are the recording's begin and its last
// sign of life. Throws Error.
Process survey_recording(const std::string& path);

// After they were read: what was overwritten and lost, and what else a user should know of how it was recorded.
void add_losses(const RingFile& file, Process& process);

// Recordings whose header page was destroyed: by a host that lost its power before the page was written, or by a copy.

// A page of zeros, and a definition behind it: `first_bytes` are the first kProbeBytes of a file.
bool is_ring_without_header(std::string_view first_bytes);

// The header as far as the rest of the file tells it: the division, which follows from the file's length and is checked
// against every block; definitions_used and claimed_blocks; created_clock and the times, from the blocks' clock samples.
// The run is that of the directory in which recordings lie. All else is 0 or "": unknown. Nothing where the blocks do not agree,
// as in a file that was cut besides. `file` is an open descriptor.
std::optional<trace::FileHeader> recover_header(int file, std::uint64_t file_bytes, const std::string& path);

}  // namespace cli::ring
