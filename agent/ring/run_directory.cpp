#include "agent/ring/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace agent {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool make_directories(char* path) {
  for (char* slash = std::strchr(path + 1, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
    *slash = '/';
    if (failed) return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

// A rank of another run may be removing it, old and empty as it is (disk_cap.h): then it is made again.
int open_run_directory(const char* dir, const char* run, char* path, std::size_t size, bool& made) noexcept {
  snprintf(path, size, "%s", dir);
  if (!make_directories(path)) return -1;
  const int above = open(path, kDirectory);
  const std::size_t used = std::strlen(path);
  snprintf(path + used, size - used, "/%s", run);
  if (above < 0) return -1;
  int directory = -1;
  for (int tries = 0; directory < 0 && tries < 3; ++tries) {
    made = mkdirat(above, run, 0700) == 0;
    if (!made && errno != EEXIST) break;
    directory = openat(above, run, kDirectory | O_NOFOLLOW);
    if (directory < 0 && errno != ENOENT) break;
  }
  const int error = errno;
  close(above);
  errno = error;
  return directory;
}

int make_own_file(int directory, const char* name) noexcept {
  return openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool hold_lock(int file) noexcept {
  struct flock lock = whole_file();
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool is_locked(int file) noexcept {
  struct flock lock = whole_file();
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace agent
