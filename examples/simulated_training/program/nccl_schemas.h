// NCCL's NVTX domain: its payloads (src/include/nvtx.h and nvtx_payload_schemas.h of NCCL 2.28.9) and how its ranges
// carry them.
#pragma once
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>

namespace sim {

struct CommParams {
  std::uint64_t communicator;
  int ranks, rank, device;
};
struct SplitParams {  // ranks and rank are those of the parent
  std::uint64_t communicator, parent;
  int ranks, rank, device, color, key;
};
struct GatherParams {
  std::uint64_t communicator;
  std::size_t bytes;
};
struct CollectiveParams {
  std::uint64_t communicator;
  std::size_t bytes;
  int op_or_peer;  // ncclRedOp_t, or the other rank
};

// NCCL's schema ids: numbers of its own from NVTX's first static id.
inline constexpr std::uint64_t kStatic = 1 << 24;
inline constexpr std::uint64_t kCommInitRank = kStatic + 0, kCommDestroy = kStatic + 2, kAllGather = kStatic + 4,
                               kAllReduce = kStatic + 5;
inline constexpr std::uint64_t kSend = kStatic + 9, kReceive = kStatic + 10, kCommSplit = kStatic + 13;
inline constexpr std::uint64_t kReductionOp = kStatic + 20;

nvtxDomainHandle_t nccl_domain();
// Each once per process, before the first payload of its kind, as NCCL does it with function statics.
void register_comm_schema(std::uint64_t id);
void register_split_schema();
void register_gather_schema();
void register_reduction_schema();
void register_peer_schema(std::uint64_t id);
// ncclInitNvtxRegisteredEnums, inside the first init.
void register_reduction_ops();

// A range, with or without a payload at its start. `name` is a registered string.
void push_nccl(nvtxStringHandle_t name, const nvtxPayloadData_t* payload);

}  // namespace sim
