// The first page of a ring: identity of the process and layout of the file.
#pragma once
#include <cstdint>

#include "common/layout.h"

namespace agent {

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

// Fills in a zeroed header. The magic is stored last, so a file without it is incomplete.
void write_ring_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run,
                       const char* local_path) noexcept;

}  // namespace agent
