// The agent's life: loaded (nothing), attached to CUDA (CUPTI on), recording (a file, a thread), stopped at exit.
#pragma once
#include "agent/guard.h"

namespace agent {

// Once per process, from whichever door opens first: settings, fork page, the mark against second copies. False: this
// process is not recorded. Makes no file, no thread and no noise.
bool attach() noexcept;

// Starts the recording with all that belongs to it, at the first event of the GPU; later calls do nothing. False where
// there is no file.
bool begin_recording(const Guard&) noexcept;

// Starts the agent's thread, and sees to it that it ends before the process does. Later calls do nothing.
void start_thread() noexcept;

}  // namespace agent
