// Selects the location of a ring. A mapped page that cannot be written raises SIGBUS in an application thread, so only
// filesystems are used that can write mapped pages reserved by fallocate(2). Otherwise (network, FUSE, copy on write)
// the ring is on local storage and is copied into the run's directory.
#pragma once
#include <cstdint>

#include "agent/ring/worker.h"
#include "common/ring.h"

namespace agent {

enum class Fit { good, wrong_filesystem, no_memory };

// Checks whether a ring of `bytes` may be mapped in the file or directory. Returns no_memory if it is tmpfs and the
// memory cgroup has less than twice the size left. Free space is not checked here, but by fallocate.
Fit ring_fits(int file, std::uint64_t bytes) noexcept;

// Returns alternative directories for a ring, in this order: $TMPDIR, /tmp, /var/tmp, /dev/shm; null after the last.
// Each has to be checked with ring_fits() and has_room().
const char* local_directory(int number) noexcept;

// Returns true if a sixteenth of the filesystem would remain free after `bytes` more.
bool has_room(int directory, std::uint64_t bytes) noexcept;

// Calls fallocate(2), but never beyond RLIMIT_FSIZE, where it would raise SIGXFSZ and kill the process. Returns false
// with errno.
bool reserve_space(int file, std::uint64_t bytes) noexcept;

// Copies a complete ring from local storage into the run's directory. Blocks are copied with the reader's protocol, so
// that the content is consistent, into a hidden file that is then renamed. For our own threads.

// Limits the rate to kCopyBytesPerSecond until `worker` is asked to stop, to leave network bandwidth for others; no
// limit if `worker` is null. Returns false with errno if the copy was not made (ECANCELED: asked to stop).
bool copy_ring(const trace::Ring& ring, int directory, const char* name, Worker* worker) noexcept;

// Returns a value that changes if anything was recorded meanwhile by a thread other than `own_tid`, the agent's, which
// samples the clocks once a second. Reads only block headers.
std::uint64_t ring_fingerprint(const trace::Ring& ring, std::uint32_t own_tid) noexcept;

}  // namespace agent
