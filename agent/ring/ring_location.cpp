#include "agent/ring/ring_location.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdlib>

#include "agent/ring/memory_room.h"
#include "common/filesystems.h"

namespace agent {

Fit ring_fits(int file, std::uint64_t bytes) noexcept {
  struct statfs info;
  if (fstatfs(file, &info) != 0) return Fit::wrong_filesystem;
  const trace::Filesystem* known = trace::filesystem_of(static_cast<std::uint64_t>(info.f_type));
  if (known == nullptr || !known->maps_in_place) return Fit::wrong_filesystem;
  if (known->type == trace::kTmpfs && memory_room() / 2 < bytes) return Fit::no_memory;
  return Fit::good;
}

const char* local_directory(int number) noexcept {
  static constexpr const char* kDirectories[] = {"/tmp", "/var/tmp", "/dev/shm"};
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && chosen[0] == '/') {
    if (number == 0) return chosen;
    --number;
  }
  return number < 3 ? kDirectories[number] : nullptr;
}

bool has_room(int directory, std::uint64_t bytes) noexcept {
  struct statfs info;
  if (fstatfs(directory, &info) != 0) return false;
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
