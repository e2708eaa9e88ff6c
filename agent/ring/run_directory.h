// The directory of a run, DIR/RUN: made on demand, mode 0700, by whichever of its processes comes first.
#pragma once
#include <cstddef>

namespace agent {

// Opens DIR/RUN, making it and what is missing above. `path` gets the name that was tried. Returns a descriptor, or -1
// with errno; ELOOP or ENOTDIR where DIR/RUN is a link or no directory: it is never followed. `made`: RUN is new.
int open_run_directory(const char* dir, const char* run, char* path, std::size_t size, bool& made) noexcept;

// In `directory`: a new file that is nobody else's. Descriptor, or -1 with errno.
int make_own_file(int directory, const char* name) noexcept;

// Holds a write lock on the whole file as long as the descriptor is open. False: somebody else does.
bool hold_lock(int file) noexcept;
// Whether anybody holds one, through another descriptor.
bool is_locked(int file) noexcept;

}  // namespace agent
