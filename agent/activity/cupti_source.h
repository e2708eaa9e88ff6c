// CUPTI as a source of events: subscription, kinds, buffers. There is one registration per process, at cuInit. Every
// failure prints one line and leaves this source off. If another tool uses CUPTI, registration is tried again later.
// With TRACETOOL_COEXIST=share the agent is one of several subscribers if CUPTI supports it; otherwise it is the only
// one, and one line reports that.
#pragma once
#include "agent/base/guard.h"

namespace agent {

// Called by InitializeInjection. If CUPTI is not available now, a line reports the reason; NVTX and NCCL are still
// recorded.
void start_cupti(const Guard&) noexcept;
// Used if InitializeInjection was not called because CUDA calls another tool's injection. Our thread will try to
// register, as if CUPTI were in use.
void start_cupti_late() noexcept;
// Tries again if CUPTI was in use. Returns true if it is ours now and recording has begun. For our own thread.
bool retry_cupti() noexcept;
// Registers our buffers and enables our kinds again after another user replaced them. As one of several subscribers,
// subscribes again if the subscription was ended. For our own thread.
bool retake_cupti() noexcept;

bool cupti_is_on() noexcept;
bool cupti_is_taken() noexcept;
// Returns true if this process uses CUDA, but CUPTI is not available.
bool cupti_failed() noexcept;
// Returns true if each thread has its own buffer; or if the record kinds that the canary needs are enabled.
bool has_buffer_per_thread() noexcept;
bool canary_is_enabled() noexcept;

// Called when the process exits and the driver will be shut down. None of our code calls CUPTI or the driver
// afterwards, including our thread if it is still in a call that hangs.
void leave_cupti() noexcept;
bool has_left_cupti() noexcept;

// Collects the records that CUPTI has completed. For our own thread, and at exit if there is none. `forced` also
// collects incomplete records. CUPTI then never reports their end, so it is used only at the very end and in a stall
// (watch.h). As one of several subscribers it is used only at the very end, because nothing is requested any more then,
// and only if no other subscriber requests records, because it would affect all of them. Never call it under a lock:
// completed buffers are delivered on this thread.
void flush_cupti(bool forced) noexcept;

// Writes CUPTI's part of the file's header: version, path, state, current subscriber. Does nothing without a file.
void describe_cupti() noexcept;

// Writes a definition for each device and the driver's version, once; tries again until the driver is ready. A periodic
// task of our own thread, so that no application thread calls the driver for us.
void describe_devices() noexcept;

}  // namespace agent
