// Who this process is, written down as it becomes known; the last record in the file wins.
#pragma once
#include <cstdint>

namespace agent {

// RANK, LOCAL_RANK, WORLD_SIZE as torchrun sets them, else those of Open MPI, Slurm or PMI. Nothing where none is set, or where
// this process has them of a rank that is recorded itself and started it: a worker that loads data, say.
void record_environment_identity() noexcept;

// From NCCL's init payload: the only source that a program without a launcher has. Ignored for communicators of fewer
// ranks than the largest known, so that the last identity in the file is that of the whole job.
void record_nccl_identity(std::uint64_t communicator, std::int32_t rank, std::int32_t ranks,
                          std::int32_t device) noexcept;

}  // namespace agent
