// NCCL as a tool sees it: NVTX ranges in domain "NCCL" with the payloads of NCCL 2.28.9 (src/include/nvtx.h and
// nvtx_payload_schemas.h there), and an all-reduce kernel launched inside the call's range by cuLaunchKernelEx.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace sim {

struct Communicator {
  std::uint64_t hash;  // equal on all ranks
  int ranks, rank, device;
};

// ncclCommInitRank, in two parts: between them the ranks wait for each other. The payload comes with the end.
void begin_comm_init();
void end_comm_init(const Communicator& communicator);

// ncclAllReduce of `bytes` (sum): number `collective` of the job, `transfer_ns` long once all ranks are in it.
void all_reduce(const Communicator& communicator, std::uint64_t bytes, CUfunction kernel, CUstream stream,
                std::uint64_t collective, std::uint64_t transfer_ns);

void comm_destroy(const Communicator& communicator);

}  // namespace sim
