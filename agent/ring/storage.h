// Disk operations of the recording other than the ring, none of them in an application thread: makes space
// (disk_cap.h), spools (spool_thread.h), copies a ring that cannot be in its directory (ring_location.h).
#pragma once
#include <cstdint>

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

}  // namespace agent
