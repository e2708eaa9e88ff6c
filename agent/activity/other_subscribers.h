// Detects other CUPTI users: the one that prevents us from using CUPTI, and those that cannot use it at the same time
// as the agent.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

// Threads that CUPTI has started in this process, for the cost guard, because the program also pays for their CPU time.
// CUPTI does not report them. A thread counts as one of them if it was created during our registration with CUPTI, or
// if it returns a buffer without ever having requested one, as launching threads do.

// Remember the existing threads, and find those created since. Called before and after our registration; one thread at
// a time.
void remember_threads() noexcept;
void find_new_threads() noexcept;

// For the buffer callbacks, on their thread. `cpu_ns` is the CPU time of the delivery, which is already counted.
void note_buffer_request() noexcept;
void note_delivery(std::uint64_t cpu_ns) noexcept;

// Returns the CPU time of these threads since they were found, without their deliveries. For our own thread.
std::uint64_t cupti_threads_cpu_ns() noexcept;

// Writes the name of the other subscriber. CUPTI 13 reports it; for older versions it follows from the loaded libraries.
// "another tool" if both are unknown.
void name_current_subscriber(char* text, std::size_t size) noexcept;

// If PyTorch is loaded, prints how its profiler is affected while we have a subscription of CUPTI's version 2.
void warn_torch_profiler() noexcept;

}  // namespace agent
