// What is open on this thread now: the innermost NVTX range and the NCCL call. For what is made now and runs later (the
// nodes of a CUDA graph). Kept apart from the ring, because ranges may open before there is a recording.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/nvtx/nvtx_names.h"

namespace agent {

// The fields of a GraphNodeRecord and an NcclCallRecord that tell one call of NCCL.
struct OpenNcclCall {
  std::string_view name;  // "ncclAllReduce"; lives as long as the process
  std::uint8_t nccl_class = 0;
  std::uint8_t has = 0;
  std::uint32_t epoch = 0;
  std::uint32_t reduction_op = 0;
  std::uint32_t peer = 0;
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ordinal = 0;
};

struct OpenRange {
  bool has_range = false;   // a push/pop range that is not NCCL's own
  std::string_view name;    // of it, cut at kOpenNameBytes; valid until this thread's next call of NVTX
  std::string_view domain;  // "": NVTX's default domain
  // How many calls of NCCL work is launched for now. 0: none is open. 1: `nccl`. More: ncclGroupEnd launches for that
  // many, and `nccl` is the first of them.
  std::uint32_t nccl_calls = 0;
  OpenNcclCall nccl;
};

// Names are cut here, and ranges deeper than this are counted but not known.
inline constexpr std::size_t kOpenNameBytes = 96;
inline constexpr std::size_t kOpenRanges = 64;

// False: nothing is open on this thread. Under a Guard, on the thread in question. No lock, no allocation.
bool current_range(OpenRange& open) noexcept;

// In a forked child that begins afresh: a thread of the parent may have been starting.
void release_open_ranges() noexcept;

// For NVTX's hooks and NCCL's interposers, under a Guard. A pop closes the innermost range of its domain; one too many does nothing.
void range_opened(const Domain* domain, std::string_view name) noexcept;
void nccl_call_opened(const Domain* domain, const OpenNcclCall& call) noexcept;
void range_closed(const Domain* domain) noexcept;

}  // namespace agent
