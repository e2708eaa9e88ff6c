// Where a ring may lie. A mapped page that cannot be written is a SIGBUS in an application thread, so: only filesystems
// that write a mapped page where fallocate(2) reserved it. Elsewhere (network, FUSE, copy on write) the ring lies on
// local storage and is copied into the run's directory.
#pragma once
#include <cstdint>

#include "agent/ring/worker.h"
#include "common/ring.h"

namespace agent {

enum class Fit { good, wrong_filesystem, no_memory };

// Whether a ring of `bytes` may be mapped in the file or directory. no_memory: it is tmpfs, and the memory cgroup has less
// than twice that left. Free space is fallocate's word, not asked here.
Fit ring_fits(int file, std::uint64_t bytes) noexcept;

// The directories where a ring may lie instead, in this order: $TMPDIR, /tmp, /var/tmp, /dev/shm. Null: no more.
// Each is to be asked again: ring_fits() and has_room().
const char* local_directory(int number) noexcept;

// Whether a sixteenth of the filesystem would remain free after `bytes` more.
bool has_room(int directory, std::uint64_t bytes) noexcept;

// fallocate(2), but never beyond RLIMIT_FSIZE, where it would not only fail but raise SIGXFSZ, which kills. False:
// errno says why.
bool reserve_space(int file, std::uint64_t bytes) noexcept;

// Copies a ring that lies on local storage into the run's directory, whole: block by block with the reader's protocol, so
// that what is in the copy is true, into a hidden file that is then renamed. For our own threads.

// As fast as `worker` allows: while it is not asked to stop, kCopyBytesPerSecond at most, so that a network has room
// for others; null: as fast as it goes. False: not made, errno says why (ECANCELED: asked to stop).
bool copy_ring(const trace::Ring& ring, int directory, const char* name, Worker* worker) noexcept;

// Differs from what it was when something was recorded in between, other than by the thread `own_tid`: the agent's, which
// reads the clocks once a second. Cheap: block headers only.
std::uint64_t ring_fingerprint(const trace::Ring& ring, std::uint32_t own_tid) noexcept;

}  // namespace agent
