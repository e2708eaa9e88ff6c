// CUPTI as a source of events: subscription, kinds, buffers. One registration per process, at cuInit; whatever fails is
// one line and this source stays off.
#pragma once
#include "agent/guard.h"

namespace agent {

// From InitializeInjection. False: CUPTI cannot be had (a line has said why); NVTX and NCCL go on.
bool start_cupti(const Guard&) noexcept;
bool cupti_is_on() noexcept;
// This process uses CUDA, but CUPTI cannot be had.
bool cupti_failed() noexcept;

// Collects what CUPTI has completed. For our own thread, at a context's destruction and at exit; `forced` also takes
// what has not completed, so only at the very end. Never under a lock: completed buffers come back on this thread.
void flush_cupti(bool forced) noexcept;

// Writes CUPTI's part of the file's header: version, path, state.
void describe_cupti() noexcept;

}  // namespace agent
