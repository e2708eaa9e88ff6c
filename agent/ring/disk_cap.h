// A job that crashes and starts again must not fill a disk: what earlier runs left is removed, oldest first. Only what
// is provably ours and nobody's work: a regular file of this user, never through a link, with our magic, in the directory
// of the run that its header names, and only when no rank of that run may still be recording. What a user copied or
// moved to a directory of another name stays and is not counted. Never of the current run, whose ranks may be starting at
// this moment. Several ranks may do this at once: whoever comes second finds nothing.
//
// What is looked at and what is removed is bounded per call; the next process goes on. One thread at a time: that of the
// application which begins the recording, and has to wait where the disk is full or runs have piled up; later our own.
#pragma once
#include <cstdint>

namespace agent {

struct DiskLimits {
  std::uint64_t keep_runs;  // with the current one; 0: all
  std::uint64_t max_bytes;  // of all runs together, the current one counted but never touched; 0: unlimited
  int most_directories = 4096;  // to look into; what is among the newest of all is also among the newest of those
};

// `run_directory`: of the current run, in the directory that is looked at: a program may have changed its own.
void remove_old_runs(int run_directory, const char* current_run, const DiskLimits& limits) noexcept;

// Returns from how many earlier runs this process has removed files. Any thread may call it.
std::uint64_t removed_runs() noexcept;

// Whether runs have piled up, because processes die before their thread gets to remove any: then it is worth the time
// of an application thread, with few `most_directories`. A listing of names, no more.
bool has_many_runs(int run_directory, const DiskLimits& limits) noexcept;

// Rings of killed processes in a local directory (ring_location.h): those of this run and of the one before stay.
void remove_old_local_rings(const char* path, const char* current_run) noexcept;
inline constexpr char kLocalPrefix[] = "tracetool-";  // of their names

// Removes `name` if it is a ring of `run` or never became a ring, or a spool or .part without a ring or with one of `run`,
// and is in nobody's use. Only for a directory that is known to be a run's, or holds local rings. Returns whether it is gone.
bool remove_own_file(int directory, const char* name, const char* run) noexcept;

}  // namespace agent
