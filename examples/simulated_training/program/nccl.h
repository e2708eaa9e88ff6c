// NCCL as a tool sees it: NVTX ranges in domain "NCCL" with the payloads of NCCL 2.28.9, and kernels launched by
// cuLaunchKernelEx inside the call's range, or, in a group, inside that of the outermost ncclGroupEnd.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "../standin/work.h"

namespace sim {

struct Communicator {
  std::uint64_t hash;  // equal on all ranks
  int ranks, rank, device;
  Meeting members{};  // of its kernels, without a number
};

// ncclCommInitRank, in two parts: between them the ranks wait for each other. The payload comes with the end.
void begin_comm_init();
void end_comm_init(const Communicator& communicator);
// ncclCommSplit with color = rank % parts and key = rank: every parts-th rank talks to the others of its kind.
Communicator comm_split(const Communicator& parent, int parts);

// ncclAllReduce of `bytes` (sum), `transfer_ns` long once all ranks are in it.
void all_reduce(const Communicator& communicator, std::uint64_t bytes, CUfunction kernel, CUstream stream,
                std::uint64_t transfer_ns);
// ncclAllGather of `bytes` of each rank by copy engines, without a kernel: what ncclLaunchCeColl of NCCL 2.30
// (src/ce_coll.cc) does where it captures or CUDA is older than 12.8: a flag of 4 bytes to each other rank, the own part
// to all, and flags again, each by cudaMemcpyAsync. Not played: the waits for the others' flags (cuStreamBatchMemOp).
void all_gather(const Communicator& communicator, std::uint64_t bytes, CUstream stream);
// In a group: its end launches one kernel that does both, and all ranks meet in it.
void send(const Communicator& communicator, std::uint64_t bytes, int peer);
void receive(const Communicator& communicator, std::uint64_t bytes, int peer, CUfunction kernel, CUstream stream,
             std::uint64_t transfer_ns);

// Nest; what is called between them is launched by the outermost end, in its thread.
void group_start();
void group_end();

void comm_destroy(const Communicator& communicator);

}  // namespace sim
