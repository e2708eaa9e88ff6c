// What the recording does on disk beside the ring, none of it in an application thread: makes room (disk_cap.h), spools
// (spool_thread.h), copies a ring that cannot lie in its directory (ring_location.h).
#pragma once
#include <cstdint>

namespace agent {

// How much memory this process may still take before its control group kills something: a ring on tmpfs is memory.

// The least of (limit - use) over the memory cgroups, v2 and v1, above this process; UINT64_MAX where nothing limits
// it. `root`: "" but in tests.
std::uint64_t memory_room(const char* root = "") noexcept;

// A periodic task of our own thread: starts all that once the recording is open.
void keep_storage() noexcept;

// At exit, around the moment when the file is marked closed: before it the spool is completed, after it the copy. A
// copied ring is removed where it lay when its copy is complete; else a line says where it stays.
void finish_spooling() noexcept;
void finish_copying() noexcept;

// CPU time of all threads of it so far, at most a round of theirs behind. Grows only. For any thread.
std::uint64_t storage_cpu_ns() noexcept;

}  // namespace agent
