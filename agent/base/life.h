// The agent's life: loaded (nothing), attached to CUDA (CUPTI on), recording (a file, a thread), stopped at exit. What the
// sources of events call of it, so that they need not know what drives them; agent.cpp and flusher.cpp have it.
#pragma once
#include "agent/base/guard.h"

namespace agent {

// Once per process, from whichever entry point is called first: settings, fork page, the mark against second copies. False: this
// process is not recorded. Makes no file, no thread and no noise.
bool attach() noexcept;

// Starts the recording with all that belongs to it, at the first event of the GPU; later calls do nothing. False where
// there is no file.
bool begin_recording(const Guard&) noexcept;

// What ends the recording was perhaps registered before the driver's own exit handlers (while cuInit runs, or earlier), and
// has to run before these: registers it again. To be called a few times only: when the first context is told,
// when CUPTI became ours later, which may be before or after that, and when it is tried for the second time.
void exit_before_driver() noexcept;

// For an NVTX or NCCL event before there is a recording: begins it where no context will ever be told to us, because
// CUPTI is not available. Where CUDA calls another tool's injection and not ours, CUPTI is tried from here first.
void begin_without_gpu(const Guard&) noexcept;

// Another copy of the agent was here first, and has this exported function: whoever calls ours means it. Null: we are
// the first.
void* find_in_first_copy(const char* name) noexcept;

// Starts the agent's thread, and sees to it that it ends before the process does. Later calls do nothing.
void start_thread() noexcept;

// Has that thread collect now instead of when its period ends. For any thread, in the middle of anything: it takes no lock.
void wake_flusher() noexcept;

}  // namespace agent
