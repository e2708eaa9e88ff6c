// Removes old runs, oldest first, so that a job that crashes and restarts repeatedly does not fill the disk. Removes
// only files that are certainly ours and unused: regular files of this user, never through a link, with our magic, in
// the directory of the run named in their header, and only if no rank of that run may still be recording. Files that a
// user copied or moved to a directory with another name are kept and not counted. Files of the current run are never
// removed, because its ranks may be starting. Several ranks may do this at once; a file removed by another rank is
// ignored.
//
// The number of files examined and removed per call is limited; the next process continues. One thread at a time: the
// application's thread that begins the recording, and has to wait if the disk is full or runs have accumulated; later
// our own.
#pragma once
#include <cstdint>

namespace agent {

struct DiskLimits {
  std::uint64_t keep_runs;      // including the current one; 0 for all
  std::uint64_t max_bytes;      // of all runs; the current one is counted but never removed; 0 is unlimited
  int most_directories = 4096;  // limit of directories examined; they include the newest of all
};

// `run_directory` is that of the current run, in the directory to examine, because a program may have changed its
// working directory.
void remove_old_runs(int run_directory, const char* current_run, const DiskLimits& limits) noexcept;

// Returns from how many earlier runs this process has removed files. Any thread may call it.
std::uint64_t removed_runs() noexcept;

// Returns true if runs have accumulated because processes die before their thread removes any. Removal is then worth
// the time of an application thread, with few `most_directories`. Only lists names.
bool has_many_runs(int run_directory, const DiskLimits& limits) noexcept;

// Removes rings of killed processes in a local directory (ring_location.h), except those of this run and of the
// previous one.
void remove_old_local_rings(const char* path, const char* current_run) noexcept;
inline constexpr char kLocalPrefix[] = "tracetool-";  // prefix of their names

// Removes `name` if it is a ring of `run` or an incomplete ring, or a spool or .part without a ring or with one of
// `run`, and not in use. Only for a directory that is known to be a run's, or contains local rings. Returns true if it
// was removed.
bool remove_own_file(int directory, const char* name, const char* run) noexcept;

}  // namespace agent
