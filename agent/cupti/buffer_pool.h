// Buffers for CUPTI. Requests come in the application's threads, in the middle of a launch: a pop from a lock-free
// list of buffers that were touched before. When the list is empty a new buffer is mapped (CUPTI before 12.9 crashes
// on NULL), so CUPTI's own backlog bounds the memory; the flush thread keeps spare ones ready.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

inline constexpr std::size_t kBufferBytes = 512 << 10;

// 8-byte aligned, kBufferBytes long, zeroed. Null only when the machine has no memory left.
std::uint8_t* take_buffer() noexcept;
// Zeroes what was used and keeps it for the next request. Not for application threads.
void give_back_buffer(std::uint8_t* buffer, std::size_t used) noexcept;
// Maps and touches buffers until `spare` are free. For our own thread.
void keep_spare_buffers(std::size_t spare) noexcept;

}  // namespace agent
