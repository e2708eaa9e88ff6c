#include "agent/ring/run_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
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

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

// Some filesystems give all files one owner or the same permissions (NFS to root, CIFS). A file created there then has
// the same as the directory itself.
bool looks_like_ours(int directory, const struct stat& info) {
  char name[64];
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  snprintf(name, sizeof(name), ".tracetool-%d-%lld-%ld", getpid(), static_cast<long long>(now.tv_sec), now.tv_nsec);
  const int file = make_own_file(directory, name);
  if (file < 0) return false;
  struct stat made {};
  const bool known = fstat(file, &made) == 0;
  unlinkat(directory, name, 0);
  close(file);
  const bool same_owner = info.st_uid == 0 || info.st_uid == made.st_uid;
  return known && same_owner && (made.st_mode & kOthersWrite) == (info.st_mode & kOthersWrite);
}

// Returns null if only we and root can replace our files.
const char* unfit_for_us(int directory) {
  struct stat info;
  if (fstat(directory, &info) != 0) return "cannot be inspected";
  const bool is_own = info.st_uid == geteuid() || info.st_uid == 0;
  const bool is_closed = (info.st_mode & kOthersWrite) == 0 || (info.st_mode & S_ISVTX) != 0;
  if (is_own && is_closed)
    return faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) == 0 ? nullptr : "cannot be written to";
  if (looks_like_ours(directory, info)) return nullptr;
  return is_own ? "can be written to by other users" : "belongs to another user";
}

const char* unfit_by_error(int error) {
  if (error == ELOOP || error == ENOTDIR) return "is a link or not a directory";
  return error == EACCES ? "cannot be opened" : nullptr;
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

// A rank of another run may remove it because it is old and empty (disk_cap.h); it is then created again.
OpenedRun open_run_directory(const char* dir, const char* run, char* path, std::size_t size) noexcept {
  OpenedRun opened;
  snprintf(path, size, "%s", dir);
  if (!make_directories(path)) return opened;
  const int above = open(path, kDirectory);
  const std::size_t used = std::strlen(path);
  snprintf(path + used, size - used, "/%s", run);
  if (above < 0) return opened;
  for (int tries = 0; opened.directory < 0 && tries < 3; ++tries) {
    opened.made = mkdirat(above, run, 0700) == 0;
    if (!opened.made && errno != EEXIST) break;
    opened.directory = openat(above, run, kDirectory | O_NOFOLLOW);
    if (opened.directory >= 0 || errno == ENOENT) continue;
    opened.unfit = unfit_by_error(errno);
    break;
  }
  const int error = errno;
  if (opened.directory >= 0) opened.unfit = unfit_for_us(opened.directory);
  if (opened.unfit != nullptr && opened.directory >= 0) {
    close(opened.directory);
    opened.directory = -1;
  }
  close(above);
  errno = error;
  return opened;
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
