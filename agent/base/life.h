// The life of the agent: loaded (does nothing), attached to CUDA (CUPTI is on), recording (a file and a thread),
// stopped at exit. These functions are called by the sources of events, which need not know their implementation in
// agent.cpp and flusher.cpp.
#pragma once
#include "agent/base/guard.h"

namespace agent {

// Attaches once per process, from the first entry point called: settings, fork page, detection of further copies.
// Returns false if this process is not recorded. Creates no file or thread and prints nothing.
bool attach() noexcept;

// Starts the recording and everything that belongs to it, at the first GPU event; later calls do nothing. Returns false
// if no file could be created.
bool begin_recording(const Guard&) noexcept;

// Registers our exit handler again. It has to run before the driver's exit handlers, but may have been registered
// before them (while cuInit runs, or earlier). Called only a few times: when the first context is reported, when CUPTI
// became available later, which may be before or after that, and when it is tried for the second time.
void exit_before_driver() noexcept;

// For an NVTX or NCCL event before the recording: begins the recording if no context will ever be reported because
// CUPTI is not available. If CUDA calls another tool's injection instead of ours, CUPTI is tried first.
void begin_without_gpu(const Guard&) noexcept;

// Returns the exported function of another copy of the agent that was loaded first; calls to our function are passed on
// to it. Returns null if this is the first copy.
void* find_in_first_copy(const char* name) noexcept;

// Starts the agent's thread and ensures that it ends before the process does. Later calls do nothing.
void start_thread() noexcept;

// Makes that thread collect now instead of at the end of its period. For any thread at any time: it takes no lock.
void wake_flusher() noexcept;

}  // namespace agent
