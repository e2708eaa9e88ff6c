// TRACETOOL_MODE=spool: a thread compresses every full block of the ring into X.spool next to X.ring, so that the whole
// run is kept. The ring is unchanged and contains the blocks that the spool does not have yet, so nothing is lost by
// SIGKILL. If the disk is slower than the program, blocks are recycled before they are spooled, and counted as
// overwritten. If the disk is full, one line reports it and only the ring continues.
#pragma once
#include "common/ring.h"

namespace agent {

// Creates the file `name` in the directory `directory` and starts the thread. For our own threads. Returns false if
// there is no spool; a line has reported the reason. `max_bytes` 0 is unlimited.
bool start_spool(const trace::Ring& ring, int directory, const char* name, std::uint64_t max_bytes) noexcept;

// Seals the blocks that are still held, spools the rest and ends the thread. Takes at most five seconds; the rest is in
// the ring.
void finish_spool() noexcept;

// CPU time of the spool's thread so far. For any thread.
std::uint64_t spool_cpu_ns() noexcept;

}  // namespace agent
