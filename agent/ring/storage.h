// Disk operations of the recording other than the ring, none of them in an application thread: makes space
// (disk_cap.h), spools (spool_thread.cpp), copies a ring that cannot be in its directory (ring_location.h).
#pragma once
#include <cstdint>

#include "common/ring.h"

namespace agent {

// Limits of the control group's memory, because a ring on tmpfs uses memory.

// Returns the smallest (limit - use) of the memory cgroups, v2 and v1, of this process; UINT64_MAX without limits.
// `root` is "" except in tests.
std::uint64_t memory_room(const char* root = "") noexcept;

// A periodic task of our own thread: starts these operations when the recording is open.
void keep_storage() noexcept;

// Called at exit before and after the file is marked closed: the first completes the spool, the second the copy. The
// original of a copied ring is removed when its copy is complete; otherwise a line reports its location.
void finish_spooling() noexcept;
void finish_copying() noexcept;

// Returns the CPU time of all these threads so far, delayed by at most one of their cycles. Never decreases. For any
// thread.
std::uint64_t storage_cpu_ns() noexcept;

// Creates the file `name` in the directory `directory` and starts the thread. For our own threads. Returns false if
// there is no spool; a line has reported the reason. `max_bytes` 0 is unlimited.
bool start_spool(const trace::Ring& ring, int directory, const char* name, std::uint64_t max_bytes) noexcept;

// Seals the blocks that are still held, spools the rest and ends the thread. Takes at most five seconds; the rest is in
// the ring.
void finish_spool() noexcept;

// CPU time of the spool's thread so far. For any thread.
std::uint64_t spool_cpu_ns() noexcept;

}  // namespace agent
