// The directory of a run, DIR/RUN: created on demand with mode 0700 by the first of its processes.
//
// Its name can be guessed, so another user may have created something there. The directory that was opened is checked,
// not its name: only we and root may own it, and no other user may write to it unless it is sticky, where files of
// other users are protected. Write access to DIR does not matter, because our directory stays open and files in it are
// not accessed by its name.
#pragma once
#include <sys/types.h>

#include <cstddef>

namespace agent {

// Keeps a file descriptor in a process that we do not control. Programs close the standard files, or all from 3 on like
// daemons do, and open their own files with these numbers. We must not write to their files, and they must not write to
// ours.

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

struct OpenedRun {
  int directory = -1;           // -1 if it is not open; errno is set if `unfit` is null
  bool made = false;            // RUN was created
  const char* unfit = nullptr;  // problem of the existing directory, which is left unchanged
};

// Opens DIR/RUN, creating it and missing parents. Writes the name to `path`. Never follows a link.
OpenedRun open_run_directory(const char* dir, const char* run, char* path, std::size_t size) noexcept;

// Creates a new file in `directory` that belongs to no other process. Returns a descriptor, or -1 with errno.
int make_own_file(int directory, const char* name) noexcept;

// Holds a write lock on the whole file as long as the descriptor is open. Returns false if another process holds it.
bool hold_lock(int file) noexcept;
// Returns true if another descriptor holds a lock.
bool is_locked(int file) noexcept;

}  // namespace agent
