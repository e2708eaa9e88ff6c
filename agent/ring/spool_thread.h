// TRACETOOL_MODE=spool: a thread compresses every full block of the ring into X.spool beside X.ring, so that the whole
// run is kept. The ring stays as it is and holds what the spool does not have yet: nothing is lost to SIGKILL. Where
// the disk is slower than the program, blocks are recycled before they were spooled, and that is counted as
// overwritten. Where the disk is full, one line says so and the ring goes on alone.
#pragma once
#include "common/ring.h"

namespace agent {

// Makes the file `name` in the directory `directory` and starts the thread. For our own threads. False: no spool, and a line
// said why. `max_bytes` 0: any length.
bool start_spool(const trace::Ring& ring, int directory, const char* name, std::uint64_t max_bytes) noexcept;

// Seals what is still held, spools the rest and ends the thread; five seconds at most, the ring has it anyway.
void finish_spool() noexcept;

// CPU time of the spool's thread so far. For any thread.
std::uint64_t spool_cpu_ns() noexcept;

}  // namespace agent
