// A descriptor that we keep in a process whose descriptors are not ours. Programs close the standard files, or all
// from 3 on as daemons do, and open files of their own at these numbers: nothing of ours is to be written into those,
// and nothing of theirs into ours.
#pragma once
#include <sys/types.h>

namespace agent {

// One owner at a time; no locks. What get() gives is to be used at once and never kept.
class OwnDescriptor {
 public:
  // Keeps `fd` (-1: a failed open, errno stays), under a number out of the way of programs: never 0, 1 or 2. Locks
  // that belong to the open file (F_OFD_SETLK) go with it. False: errno says why, and `fd` is closed.
  bool take(int fd) noexcept;
  // The same file again, after the program has closed its descriptor. False: `fd` is of another file, and is closed.
  bool take_again(int fd) noexcept;
  // Taken and not dropped, whatever the program has done since.
  bool held() const noexcept { return fd_ >= 0; }
  // -1: not held, or the program has closed it, or has another file at its number.
  int get() const noexcept;
  // Closes it where it is still ours. False: it was not (EBADF), or close(2) failed.
  bool drop() noexcept;

 private:
  int fd_ = -1;
  bool marked_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace agent
