// NVTX seen before the recording begins waits here: bounded, the newest are kept, and what went is counted when there
// is a file.
#pragma once
#include "agent/nvtx/nvtx_events.h"

namespace agent {

// False: what waited has been written by now, so write this one too.
bool keep_pending_nvtx(const NvtxEvent& event) noexcept;
// Writes what waits. Once, when the recording begins.
void replay_pending_nvtx(const Guard& guard) noexcept;
// In a forked child that begins afresh: what waits is the parent's.
void forget_pending_nvtx() noexcept;

}  // namespace agent
