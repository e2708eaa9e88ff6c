// A folder for recordings: can it be written, on what does it lie, is there room?
#pragma once
#include <cstdint>
#include <string>

#include "cli/doctor/finding.h"

namespace cli {

struct Place {
  std::string existing;        // the folder itself, or the nearest above it that exists
  bool is_folder = false;      // `existing` is a folder
  bool writable = false;       // for this user
  std::string filesystem;      // "ext4", "NFS", or its number
  bool maps_in_place = false;  // the ring can lie there itself (recording.md section 1)
  std::uint64_t free_bytes = 0;
};

Place look_at(const std::string& folder);

// "256M" -> bytes, as the agent reads TRACETOOL_BUFFER; 256 MiB where it is not set or wrong.
std::uint64_t ring_bytes_wanted();

// The folder can be written, its filesystem, room for one more ring. For a folder that is to be recorded into.
Findings check_place(const std::string& folder, std::uint64_t ring_bytes);

// Of a folder that holds recordings already: nothing of it fails. `is_live`: processes record into it, and more may
// begin to; their rings took their room when they began.
Findings check_used_place(const std::string& folder, std::uint64_t ring_bytes, bool is_live);

}  // namespace cli
