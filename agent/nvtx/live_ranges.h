// The innermost NVTX range and the NCCL call that are open on this thread, for objects made now and used later (the
// nodes of a CUDA graph). They are stored outside of the ring, because ranges may open before there is a recording.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/nvtx/nvtx_names.h"

namespace agent {

// An NCCL call, as far as a GraphNodeRecord describes it.
struct OpenNcclCall : trace::NcclCallRecord {
  std::string_view name;  // "ncclAllReduce"; valid as long as the process
};

struct OpenRange {
  bool has_range = false;   // a push/pop range other than NCCL's own
  std::string_view name;    // of the range, cut at kOpenNameBytes; valid until this thread's next NVTX call
  std::string_view domain;  // "" for NVTX's default domain
  // Number of NCCL calls for which work is launched now. 0: none is open. 1: `nccl`. More: ncclGroupEnd launches for
  // that many, and `nccl` is the first of them.
  std::uint32_t nccl_calls = 0;
  OpenNcclCall nccl{};
};

// Limit of names. Ranges deeper than kOpenRanges are counted, but their names are not kept.
inline constexpr std::size_t kOpenNameBytes = 96;
inline constexpr std::size_t kOpenRanges = 64;

// Returns false if nothing is open on this thread. Called under a Guard, on the thread itself. No lock, no allocation.
bool current_range(OpenRange& open) noexcept;

// Called in a forked child that begins again: a thread of the parent may have been starting.
void release_open_ranges() noexcept;

// For NVTX's hooks and NCCL's interposers, under a Guard. A pop closes the innermost range of its domain; an unmatched
// one does nothing.
void range_opened(const Domain* domain, std::string_view name) noexcept;
void nccl_call_opened(const Domain* domain, const OpenNcclCall& call) noexcept;
void range_closed(const Domain* domain) noexcept;

}  // namespace agent
