// The recording's file: made late, locked, preallocated, mapped shared. Nothing here can raise SIGBUS: the space is
// reserved by fallocate(2) on a filesystem that maps in place, or there is no recording. Where the run's directory is no
// such place, the ring lies on local storage, its header says so (local_path), and it is copied (storage.h).
#pragma once
#include "agent/ring/disk_cap.h"
#include "agent/ring/own_descriptor.h"
#include "common/ring.h"

namespace agent {

// Makes `dir`/RUN/HOST-BOOT-PID-START.ring with room for ring_bytes, and writes its header. False: no recording, and a
// line said why. The lock is held until the process ends; a forked child must call drop_trace_file().
bool create_trace_file(const char* dir, std::uint64_t ring_bytes, trace::Ring& ring) noexcept;

// The whole path of the file, or of its copy; "" before there is one.
const char* trace_file_path() noexcept;

struct RunFile {
  OwnDescriptor directory;       // DIR/RUN; see run_directory()
  char run[64] = "";          // its name
  char name[192] = "";        // of the file in it
  char local_path[256] = "";  // of the ring, where it lies elsewhere; else ""
};
// Valid once create_trace_file() returned true.
const RunFile& run_file() noexcept;

// Whether that process of this host has a recording in the run's directory. As soon as this one has one.
bool is_recorded_in_run(int pid) noexcept;

// The directory's descriptor, for use at once; opened again where the program has closed it and its path is absolute. -1:
// it is not available. For one thread of ours at a time.
int run_directory() noexcept;

// TRACETOOL_KEEP and TRACETOOL_MAX_DISK.
DiskLimits disk_limits() noexcept;

// In a forked child: lets go of the lock, which the child would otherwise hold on after its parent.
void drop_trace_file() noexcept;

}  // namespace agent
