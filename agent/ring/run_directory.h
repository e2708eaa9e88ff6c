// The directory of a run, DIR/RUN: made on demand, mode 0700, by whichever of its processes comes first.
//
// Its name can be guessed, so somebody may have put something else there. What counts is the directory that was opened, and not its name:
// nobody but us and root may own it, and nobody else may write to it, but for a sticky one, where files of others stay theirs. Who may
// write to DIR does not matter: our directory stays open, and what is done in it does not go by its name.
#pragma once
#include <cstddef>

namespace agent {

struct OpenedRun {
  int directory = -1;           // -1: it is not open; errno, where `unfit` is null
  bool made = false;            // RUN is new
  const char* unfit = nullptr;  // what is wrong with what is there; it is left as it is
};

// Opens DIR/RUN, making it and what is missing above. `path` gets the name that was tried. A link is never followed.
OpenedRun open_run_directory(const char* dir, const char* run, char* path, std::size_t size) noexcept;

// In `directory`: a new file that is nobody else's. Descriptor, or -1 with errno.
int make_own_file(int directory, const char* name) noexcept;

// Holds a write lock on the whole file as long as the descriptor is open. False: somebody else does.
bool hold_lock(int file) noexcept;
// Whether anybody holds one, through another descriptor.
bool is_locked(int file) noexcept;

}  // namespace agent
