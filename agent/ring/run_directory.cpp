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

void close_quietly(int fd) {
  const int error = errno;
  close(fd);
  errno = error;
}

// The inode number of a removed and closed file is soon reused (st_ino), so the open file itself is marked: with a
// signal that is never sent, because the descriptor is not asynchronous.
constexpr int kMark = 61;

bool mark(int fd) { return fcntl(fd, F_SETSIG, kMark) == 0; }
bool is_marked(int fd) { return fcntl(fd, F_GETSIG) == kMark; }

// Programs rely on low numbers and scan the sets of select(2). If such a high number is not available (RLIMIT_NOFILE),
// any number except those of the standard files is used.
int move_up(int fd) {
  constexpr int kHigh = 64;
  constexpr int kFirst = 3;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, kHigh);
  if (moved < 0 && fd >= kFirst) return fd;
  if (moved < 0) moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirst);
  close_quietly(fd);
  return moved;
}

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

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool OwnDescriptor::take(int fd) noexcept {
  if (fd < 0) return false;
  struct stat info;
  const int moved = move_up(fd);
  if (moved < 0) return false;
  if (fstat(moved, &info) != 0) {
    close_quietly(moved);
    return false;
  }
  fd_ = moved;
  marked_ = mark(moved);
  device_ = info.st_dev;
  inode_ = info.st_ino;
  return true;
}

bool OwnDescriptor::take_again(int fd) noexcept {
  struct stat info;
  if (fd < 0) return false;
  if (held() && fstat(fd, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_) return take(fd);
  close_quietly(fd);
  return false;
}

int OwnDescriptor::get() const noexcept {
  struct stat info;
  const bool is_same = fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  return is_same && (!marked_ || is_marked(fd_)) ? fd_ : -1;
}

bool OwnDescriptor::drop() noexcept {
  const int fd = get();
  fd_ = -1;
  if (fd >= 0) return close(fd) == 0;
  errno = EBADF;
  return false;
}

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
    if (errno == EACCES) opened.unfit = "cannot be opened";
    if (errno == ELOOP || errno == ENOTDIR) opened.unfit = "is a link or not a directory";
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
