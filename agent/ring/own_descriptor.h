// Keeps a file descriptor in a process that we do not control. Programs close the standard files, or all from 3 on like
// daemons do, and open their own files with these numbers. We must not write to their files, and they must not write to
// ours.
#pragma once
#include <sys/types.h>

namespace agent {

// One owner at a time; no locks. Use the result of get() at once and never store it.
class OwnDescriptor {
 public:
  // Keeps `fd` (-1: a failed open, with errno unchanged) under a number that programs do not use: never 0, 1 or 2.
  // Locks of the open file (F_OFD_SETLK) are kept. Returns false with errno on failure; `fd` is closed then.
  bool take(int fd) noexcept;
  // Takes the same file again, after the program has closed its descriptor. Returns false if `fd` is another file; it
  // is closed then.
  bool take_again(int fd) noexcept;
  // Returns true after take() until drop(), even if the program has closed the descriptor.
  bool held() const noexcept { return fd_ >= 0; }
  // Returns -1 if not held, or if the program has closed it or has another file with its number.
  int get() const noexcept;
  // Closes it if it is still ours. Returns false if it was not (EBADF), or if close(2) failed.
  bool drop() noexcept;

 private:
  int fd_ = -1;
  bool marked_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace agent
