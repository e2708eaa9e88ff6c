// Records the stacks of the Python threads of a hanging process (trace::StackRecord), once, and a notice. This is done
// by the thread that takes the GIL, if it gets it; otherwise, if the owner of the GIL hangs itself, by another thread
// without the GIL.
#pragma once
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/python/python_frames.h"

namespace agent {

// Prepares finding the threads later. Called under the GIL, on a thread known to Python. If process_vm_readv(2) is not
// permitted, there are no stacks without the GIL.
void prepare_hang_stacks(const PythonFunctions& python) noexcept;

// Requests the stacks; the process has not made progress since then (CLOCK_MONOTONIC). For our own thread.
void ask_for_hang_stacks(std::uint64_t since_mono_ns) noexcept;
// Writes the requested stacks, if they are not written yet. Called under the GIL, with the recording open.
void write_hang_stacks(const Guard& guard) noexcept;
// Makes a thread write the stacks without the GIL, if the GIL was not available. Threads that continue meanwhile are
// skipped: their frames are read twice by process_vm_readv(2), which returns an error for a wrong address instead of
// raising a signal.
void take_hang_stacks() noexcept;

}  // namespace agent
