// A directory for recordings: can it be written, on what does it lie, is there room?
#pragma once
#include <cstdint>
#include <string>

#include "cli/doctor/checks.h"

namespace cli {

struct OutputDirectory {
  std::string existing;        // the directory itself, or the nearest above it that exists
  bool is_directory = false;   // `existing` is a directory
  bool writable = false;       // for this user
  std::string filesystem;      // "ext4", "NFS", or its number
  bool maps_in_place = false;  // the ring can lie there itself (recording.md section 1)
  std::uint64_t free_bytes = 0;
  bool takes_files = true;  // there is a free inode
};

OutputDirectory look_at(const std::string& directory);

// Returns the size limit of files for processes that are started from here (`ulimit -f`).
std::uint64_t file_size_limit();

// "256M" -> bytes, as the agent reads TRACETOOL_BUFFER; 256 MiB where it is not set or wrong.
std::uint64_t ring_bytes_wanted();

// The directory can be written, its filesystem, room for one more ring. For a directory that is to be recorded into.
CheckResults check_output_directory(const std::string& directory, std::uint64_t ring_bytes);

// Of a directory that holds recordings already: nothing of it fails. `is_live`: processes record into it, and more may
// begin to; their rings took their room when they began.
CheckResults check_used_directory(const std::string& directory, std::uint64_t ring_bytes, bool is_live);

}  // namespace cli
