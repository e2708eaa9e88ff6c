// Where the Python threads of a process are that does not go on: the stack of each as a record (trace::StackRecord), once, and a notice.
// By the thread that takes the GIL, where it gets it; else, where who has the GIL hangs itself, by another one without it.
#pragma once
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/python/python_frames.h"

namespace agent {

// Under the GIL, on a thread that Python knows: what is needed to find the threads later. Where process_vm_readv(2) is not allowed, there
// are no such stacks.
void prepare_hang_stacks(const PythonFunctions& python) noexcept;

// Nothing has gone on since then (CLOCK_MONOTONIC): asks for the stacks. For our own thread.
void ask_for_hang_stacks(std::uint64_t since_mono_ns) noexcept;
// Under the GIL, with the recording open: writes them where they were asked for and are not written.
void write_hang_stacks(const Guard& guard) noexcept;
// Has a thread write them without the GIL, where that did not come. Threads that go on meanwhile are left out: their frames are read
// twice, by process_vm_readv(2), for which a wrong address is an error and no signal.
void take_hang_stacks() noexcept;

}  // namespace agent
