// What NCCL (2.16 and later) tells with its own NVTX ranges, decoded. The layouts are NCCL's public schemas
// (src/include/nvtx_payload_schemas.h there; before 2.25 in src/init.cc and src/collectives.cc), told apart by the
// range's name and the payload's size, because schema numbers moved. Nothing here trusts the size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/record.h"

namespace agent {

// Numbers each call of a communicator, so that the same collective has the same number on every rank: NCCL demands the
// same order of collectives on all ranks of a communicator, and of sends and receives per pair of ranks.
inline constexpr std::uint64_t kUnknownOrdinal = ~std::uint64_t{0};

struct CallOrdinal {
  std::uint64_t ordinal;  // from 0; or kUnknownOrdinal, also when more are in use than the tables hold
  std::uint32_t epoch;
};

// `peer` counts for sends and receives only. Lock-free.
CallOrdinal next_ordinal(std::uint64_t communicator, trace::NcclClass nccl_class, std::uint32_t peer) noexcept;

// Rank `rank` of a communicator with this hash was made (again): numbers start anew. Several ranks of one communicator
// in one process cannot be told apart by their calls: from then on its ordinals are unknown. Returns the epoch.
std::uint32_t begin_epoch(std::uint64_t communicator, std::int32_t rank) noexcept;

// A call that moves data between ranks. (One-sided calls, ncclPutSignal and its kin, are ordinary ranges: no call of
// another rank belongs to one.)
struct NcclOperation {
  std::string_view name;
  trace::NcclClass nccl_class;
  std::uint8_t members[2];  // the 32-bit members that follow the size, in order: kHasPeer, kHasReductionOp or 0
};

// Null: not one of them (ncclGroupStart, ncclCommInitRank, ...).
const NcclOperation* find_nccl_operation(std::string_view name) noexcept;

// {communicator, bytes, members} since 2.25.1, {bytes, members} before. Another size: nothing is known.
void decode_nccl_call(trace::NcclCallRecord& record, const NcclOperation& operation, const void* payload,
                      std::size_t bytes) noexcept;

// What a range that makes a communicator says of it; -1 and 0: it does not.
struct NcclInit {
  std::uint64_t communicator = 0;
  std::uint64_t parent = 0;
  std::int32_t rank = -1;
  std::int32_t ranks = -1;
  std::int32_t device = -1;
  std::int32_t color = -1;
  std::int32_t key = -1;
  std::int32_t parent_rank = -1;  // of a split: whose rank in the parent this is
};

// Before 2.25 it comes with the push: {rank, ranks, device} and no communicator. False: nothing of the kind.
bool decode_nccl_init_push(std::string_view name, const void* payload, std::size_t bytes, NcclInit& init) noexcept;
// Since then with the pop, by NCCL's number of the schema. A split tells rank and size of the parent, not of what it
// makes; what a shrink makes is not told at all.
bool decode_nccl_init_pop(std::uint64_t schema, const void* payload, std::size_t bytes, NcclInit& init) noexcept;

}  // namespace agent
