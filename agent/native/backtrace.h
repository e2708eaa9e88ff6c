// Returns the calling thread's native stack with libunwind, if the agent is built with it (-Dlibunwind).
#pragma once
#include <cstddef>

namespace agent {

// Called once. Returns false if stacks are not available in this build or this process.
bool prepare_backtraces() noexcept;

// Stores return addresses, that of the caller first, and returns their number; 0 if they cannot be found. The first
// call on a thread takes milliseconds, and 256 KiB for the lifetime of the thread. Takes the loader's list
// (dl_iterate_phdr) for code not seen before.
std::size_t backtrace_here(const void** addresses, std::size_t most) noexcept;

// Invalidates cached data about code. Called after objects have been unloaded, before the calling thread's next stack.
void forget_unloaded_code() noexcept;

}  // namespace agent
