// NVTX seen before the recording begins waits here: bounded, and what does not fit is counted when there is a file.
#pragma once
#include "agent/nvtx_events.h"

namespace agent {

void keep_pending_nvtx(const NvtxEvent& event) noexcept;
// Writes what waits. Once, when the recording begins.
void replay_pending_nvtx(const Guard& guard) noexcept;

}  // namespace agent
