// Where a ring may lie. A mapped page that cannot be written is a SIGBUS in an application thread, so: only filesystems
// that write a mapped page where fallocate(2) reserved it. Elsewhere (network, FUSE, copy on write) the ring lies on
// local storage and is copied into the run's directory (ring_copy.h).
#pragma once
#include <cstdint>

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

}  // namespace agent
