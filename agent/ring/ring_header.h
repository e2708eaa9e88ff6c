// The first page of a ring: who records, and how the file is divided.
#pragma once
#include <cstdint>

#include "common/layout.h"

namespace agent {

// Who this process is, written down as it becomes known; the last record in the file wins.

// RANK, LOCAL_RANK, WORLD_SIZE as torchrun sets them, else those of Open MPI, Slurm or PMI. Nothing where none is set, or where
// this process has them of a rank that is recorded itself and started it: a worker that loads data, say.
void record_environment_identity() noexcept;

// From NCCL's init payload: the only source that a program without a launcher has. Ignored for communicators of fewer
// ranks than the largest known, so that the last identity in the file is that of the whole job.
void record_nccl_identity(std::uint64_t communicator, std::int32_t rank, std::int32_t ranks,
                          std::int32_t device) noexcept;

// Fills in a header that is zero. The magic is stored last: a file without it was never finished.
void write_ring_header(trace::FileHeader& header, std::uint64_t ring_bytes, const char* run,
                       const char* local_path) noexcept;

}  // namespace agent
