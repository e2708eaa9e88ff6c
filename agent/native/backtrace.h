// The calling thread's native stack, by libunwind where the agent is built with it (-Dlibunwind).
#pragma once
#include <cstddef>

namespace agent {

// Once. False: there are no stacks in this build, or in this process.
bool prepare_backtraces() noexcept;

// Return addresses, of the caller the first; how many. 0: none can be told. The first of a thread takes milliseconds, and 256 KiB for as
// long as the thread lives. Takes the loader's list (dl_iterate_phdr) for code that was not seen before.
std::size_t backtrace_here(const void** addresses, std::size_t most) noexcept;

// After objects have been unloaded, before the calling thread's next stack: what is known of their code holds no more.
void forget_unloaded_code() noexcept;

}  // namespace agent
