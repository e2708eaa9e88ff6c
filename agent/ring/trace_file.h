// The recording's file: created late, locked, preallocated, mapped shared. It cannot raise SIGBUS: the space is
// reserved by fallocate(2) on a filesystem that writes in place, or there is no recording. If the run's directory is on
// another filesystem, the ring is on local storage, its header contains the path (local_path), and it is copied
// (storage.h).
#pragma once
#include <cstdint>

#include "agent/ring/disk_cap.h"
#include "agent/ring/run_directory.h"
#include "common/layout.h"
#include "common/ring.h"

namespace agent {

// The first page of a ring: identity of the process and layout of the file.

// The identity of this process, recorded as it becomes known; the last record in the file counts.

// Records RANK, LOCAL_RANK, WORLD_SIZE as set by torchrun, otherwise those of Open MPI, Slurm or PMI. Does nothing if
// none is set, or if they were inherited from a rank that is recorded itself and started this process, for example as a
// data loader worker.
void record_environment_identity() noexcept;

// Records the identity in NCCL's init payload, which is the only source for a program without a launcher. Ignores
// communicators with fewer ranks than the largest known, so that the last identity in the file is that of the whole
// job.
void record_nccl_identity(std::uint64_t communicator, std::int32_t rank, std::int32_t ranks,
                          std::int32_t device) noexcept;

// Creates `dir`/RUN/HOST-BOOT-PID-START.ring with space for ring_bytes, and writes its header. Returns false if there
// is no recording; a line has reported the reason. The lock is held until the process ends; a forked child must call
// drop_trace_file().
bool create_trace_file(const char* dir, std::uint64_t ring_bytes, trace::Ring& ring) noexcept;

// Returns the full path of the file, or of its copy; "" before there is one.
const char* trace_file_path() noexcept;

struct RunFile {
  OwnDescriptor directory;    // DIR/RUN; see run_directory()
  char run[64] = "";          // name of the run
  char name[192] = "";        // name of the file in the directory
  char local_path[256] = "";  // path of the ring if it is elsewhere; otherwise ""
};
// Valid once create_trace_file() returned true.
const RunFile& run_file() noexcept;

// Returns true if that process of this host has a recording in the run's directory. Valid once this process has one.
bool is_recorded_in_run(int pid) noexcept;

// Returns the directory's descriptor, for immediate use. It is opened again if the program has closed it and its path
// is absolute; -1 if not available. For one of our threads at a time.
int run_directory() noexcept;

// Returns TRACETOOL_KEEP and TRACETOOL_MAX_DISK.
DiskLimits disk_limits() noexcept;

// Called in a forked child: releases the lock, which the child would otherwise hold after its parent's end.
void drop_trace_file() noexcept;

}  // namespace agent
