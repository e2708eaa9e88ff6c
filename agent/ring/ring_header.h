// The first page of a ring: who records, and how the file is divided.
#pragma once
#include "common/layout.h"

namespace agent {

// Fills in a header that is zero. The magic is stored last: a file without it was never finished.
void write_ring_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run,
                       const char* local_path) noexcept;

}  // namespace agent
