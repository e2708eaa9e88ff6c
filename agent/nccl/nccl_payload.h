// Decodes the payloads of NCCL's own NVTX ranges (2.16 and later). The layouts are NCCL's public schemas
// (src/include/nvtx_payload_schemas.h there; before 2.25 in src/init.cc and src/collectives.cc). They are distinguished
// by the range's name and the payload's size, because schema numbers changed. The size is always checked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/record.h"

namespace agent {

// Numbers the calls of a communicator, so that a collective has the same number on every rank. NCCL requires the same
// order of collectives on all ranks of a communicator, and of sends and receives for each pair of ranks.
inline constexpr std::uint64_t kUnknownOrdinal = ~std::uint64_t{0};

struct CallOrdinal {
  std::uint64_t ordinal;  // from 0; or kUnknownOrdinal, also if the tables are full
  std::uint32_t epoch;
};

// `peer` is used only for sends and receives. Lock-free.
CallOrdinal next_ordinal(std::uint64_t communicator, trace::NcclClass nccl_class, std::uint32_t peer) noexcept;

// Restarts the numbers, because rank `rank` of a communicator with this hash was made (again). Several ranks of one
// communicator in one process cannot be distinguished by their calls, so its ordinals are unknown from then on. Returns
// the epoch.
std::uint32_t begin_epoch(std::uint64_t communicator, std::int32_t rank) noexcept;

// A call that moves data between ranks. (One-sided calls such as ncclPutSignal are ordinary ranges, because no call of
// another rank corresponds to them.)
struct NcclOperation {
  std::string_view name;
  trace::NcclClass nccl_class;
  std::uint8_t members[2];  // the 32-bit members after the size, in order: kHasPeer, kHasReductionOp or 0
};

// Returns null for other calls (ncclGroupStart, ncclCommInitRank, ...).
const NcclOperation* find_nccl_operation(std::string_view name) noexcept;

// Decodes {communicator, bytes, members} since 2.25.1, {bytes, members} before. Ignores payloads of other sizes.
void decode_nccl_call(trace::NcclCallRecord& record, const NcclOperation& operation, const void* payload,
                      std::size_t bytes) noexcept;

// The data about a communicator in the range that makes it; -1 and 0 if unknown.
struct NcclInit {
  std::uint64_t communicator = 0;
  std::uint64_t parent = 0;
  std::int32_t rank = -1;
  std::int32_t ranks = -1;
  std::int32_t device = -1;
  std::int32_t color = -1;
  std::int32_t key = -1;
  std::int32_t parent_rank = -1;  // for a split: the rank in the parent
};

// Before 2.25 the payload is in the push: {rank, ranks, device} without communicator. Returns false for other payloads.
bool decode_nccl_init_push(std::string_view name, const void* payload, std::size_t bytes, NcclInit& init) noexcept;
// Since 2.25 the payload is in the pop, identified by NCCL's schema number. That of a split contains rank and size of
// the parent, not of the new communicator. Nothing describes the result of a shrink.
bool decode_nccl_init_pop(std::uint64_t schema, const void* payload, std::size_t bytes, NcclInit& init) noexcept;

}  // namespace agent
