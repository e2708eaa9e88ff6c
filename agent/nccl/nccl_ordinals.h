// Numbers each call of a communicator, so that the same collective has the same number on every rank: NCCL demands the
// same order of collectives on all ranks of a communicator, and of sends and receives per pair of ranks.
#pragma once
#include <cstdint>

#include "common/record.h"

namespace agent {

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

}  // namespace agent
