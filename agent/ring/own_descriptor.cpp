#include "agent/ring/own_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace agent
