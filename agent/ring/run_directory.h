// The directory of a run, DIR/RUN: created on demand with mode 0700 by the first of its processes.
//
// Its name can be guessed, so another user may have created something there. The directory that was opened is checked,
// not its name: only we and root may own it, and no other user may write to it unless it is sticky, where files of
// other users are protected. Write access to DIR does not matter, because our directory stays open and files in it are
// not accessed by its name.
#pragma once
#include <cstddef>

namespace agent {

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
