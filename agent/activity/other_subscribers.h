// Who else is there: who holds CUPTI when we may not have it, and who cannot have it beside us.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

// The threads that CUPTI has started in this process, for the cost guard: what they take, the program pays for the
// recording as well. Nobody names them. Taken for one of them is a thread that came into being while we registered with
// CUPTI, and one that hands a buffer to us without ever having asked for one, as those that launch do.

// Remembers which threads there are, and which have come since. Around our registration; for one thread at a time.
void remember_threads() noexcept;
void find_new_threads() noexcept;

// For the buffer callbacks, on their thread. `cpu_ns`: of the delivery, which is counted already.
void note_buffer_request() noexcept;
void note_delivery(std::uint64_t cpu_ns) noexcept;

// CPU time of these threads since they were found, without their deliveries. For our own thread.
std::uint64_t cupti_threads_cpu_ns() noexcept;

// The other subscriber's name as CUPTI 13 tells it, else the tool whose library is in the process, else "another tool".
void name_current_subscriber(char* text, std::size_t size) noexcept;

// Says, where PyTorch is in the process, what its profiler gets while we have a subscription of CUPTI's version 2.
void warn_torch_profiler() noexcept;

}  // namespace agent
