// NCCL's calls, from the payload of its own NVTX ranges (NCCL >= 2.16; with the communicator's hash >= 2.25.1). The
// layouts are NCCL's public schemas (src/include/nvtx_payload_schemas.h there), told apart by name and size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/guard.h"
#include "agent/nvtx/nvtx_text.h"

namespace agent {

// A push in NCCL's domain. False: not a call that moves data (ncclGroupStart, ncclCommInitRank, ...): an ordinary
// range.
bool record_nccl_call(const Guard& guard, const Domain* domain, std::string_view name, const void* payload,
                      std::size_t bytes) noexcept;

// The payload that comes with the pop of ncclCommInitRank and its kin: communicator, ranks, rank, device.
void nccl_init_payload(const Guard& guard, std::uint64_t schema, const void* payload, std::size_t bytes) noexcept;

}  // namespace agent
