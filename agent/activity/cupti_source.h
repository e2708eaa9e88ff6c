// CUPTI as a source of events: subscription, kinds, buffers. One registration per process, at cuInit; whatever fails is
// one line and this source stays off. Taken by another tool is a state, not a failure: it is tried again. With
// TRACETOOL_COEXIST=share as one of several subscribers, where that is available, else alone, with one line.
#pragma once
#include "agent/base/guard.h"

namespace agent {

// From InitializeInjection. False: CUPTI is not available now (a line has said why); NVTX and NCCL go on.
bool start_cupti(const Guard&) noexcept;
// Where nobody called InitializeInjection, because CUDA calls another tool's: our thread will try (as if it were taken).
void start_cupti_late() noexcept;
// Where it was taken. True: it is ours now, and recording has begun. For our own thread.
bool retry_cupti() noexcept;
// Registers our buffers again and enables our kinds again, after somebody else did; as one of several subscribers:
// subscribes again where the subscription is gone. For our own thread.
bool retake_cupti() noexcept;
// CUPTI has ended itself after an error that sticks.
void on_cupti_fatal(const Guard&, int result, const char* message) noexcept;

bool cupti_is_on() noexcept;
bool cupti_is_taken() noexcept;
// This process uses CUDA, but CUPTI is not available.
bool cupti_failed() noexcept;
// Whether each thread has a buffer of its own; the kinds of records that the canary needs are on.
bool has_buffer_per_thread() noexcept;
bool canary_is_enabled() noexcept;

// The process leaves and the driver will be torn down: nothing of ours calls CUPTI or the driver from here on, also not
// our thread where it is still in a call that hung.
void leave_cupti() noexcept;
bool has_left_cupti() noexcept;

// Collects what CUPTI has completed. For our own thread, and at exit where there is none; `forced` also takes what has
// not completed, whose end nobody will be told, so only at the very end and in a stall (watch.h). As one of several
// subscribers only at the very end, because nothing is asked for any more then, and only where no other asks for
// anything: it would be taken from all of them. Never under a lock: completed buffers come back on this thread.
void flush_cupti(bool forced) noexcept;

// Writes CUPTI's part of the file's header: version, path, state, current subscriber. Does nothing without a file.
void describe_cupti() noexcept;

}  // namespace agent
