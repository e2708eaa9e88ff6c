#include "agent/ring/ring_place.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdlib>

#include "agent/ring/memory_room.h"

namespace agent {
namespace {

constexpr unsigned long kTmpfs = 0x01021994;
// Filesystems that write a mapped page where it was reserved (statfs(2)): ext4, xfs, tmpfs, and overlayfs, on which
// containers run; what it lies on cannot be asked, and is one of the others as a rule.
constexpr unsigned long kMapInPlace[] = {0xef53, 0x58465342, kTmpfs, 0x794c7630};

bool maps_in_place(unsigned long type) {
  for (const unsigned long known : kMapInPlace) {
    if (type == known) return true;
  }
  return false;
}

}  // namespace

Fit ring_fits(int file, std::uint64_t bytes) noexcept {
  struct statfs info;
  if (fstatfs(file, &info) != 0 || !maps_in_place(static_cast<unsigned long>(info.f_type)))
    return Fit::wrong_filesystem;
  if (static_cast<unsigned long>(info.f_type) == kTmpfs && memory_room() / 2 < bytes) return Fit::no_memory;
  return Fit::good;
}

const char* local_place(int number) noexcept {
  static constexpr const char* kPlaces[] = {"/tmp", "/var/tmp", "/dev/shm"};
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && chosen[0] == '/') {
    if (number == 0) return chosen;
    --number;
  }
  return number < 3 ? kPlaces[number] : nullptr;
}

bool has_room(int folder, std::uint64_t bytes) noexcept {
  struct statfs info;
  if (fstatfs(folder, &info) != 0) return false;
  const auto block = static_cast<std::uint64_t>(info.f_bsize);
  return info.f_bavail * block > bytes + info.f_blocks / 16 * block;
}

bool reserve_space(int file, std::uint64_t bytes) noexcept {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  return fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0;
}

}  // namespace agent
