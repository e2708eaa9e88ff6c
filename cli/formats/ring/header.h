// Reads the header of a recording, and recovers a destroyed one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/formats/ring/file.h"
#include "cli/trace/catalog.h"
#include "common/layout.h"

namespace cli::ring {

// The process, as described by the header of a recording.

// Returns what is known before the records are read.
Process describe_recording(const RingFile& file);

// Reads the header, the definitions and the headers of the blocks: identity of the process, and overwritten
// (RingFile::count_overwritten) and lost records. first_ns and last_ns are the beginning of the recording and its last
// heartbeat. Throws Error.
Process survey_recording(const std::string& path);

// Adds the overwritten and lost records, and other notes about the recording for the user. Called after the records
// were read.
void add_losses(const RingFile& file, Process& process);

// Recordings with a destroyed header page: the host lost power before the page was written, or a copy was incomplete.

// Returns true for a page of zeros followed by a definition. `first_bytes` are the first kProbeBytes of a file.
bool is_ring_without_header(std::string_view first_bytes);

// Recovers the header from the rest of the file: the division into blocks, which follows from the file's length and is
// checked against every block; definitions_used and claimed_blocks; created_clock and the times, from the blocks' clock
// samples. The run is that of the directory of the recordings. All other members are unknown: 0 or "". Returns nullopt
// if the blocks are inconsistent, for example in a file that was also cut. `file` is an open descriptor.
std::optional<trace::FileHeader> recover_header(int file, std::uint64_t file_bytes, const std::string& path);

}  // namespace cli::ring
