// Buffers on their way: CUPTI asks for an empty one, and hands it back full. Requests come in application threads in the
// middle of a launch, completions on CUPTI's worker and on whoever flushes.
#pragma once
#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "agent/translate/gpu_work.h"

namespace agent {

// Buffers for CUPTI. Requests come in the application's threads, in the middle of a launch: a pop from a lock-free list,
// no system call. The memory is reserved once and touched as it is used; its size is the budget. CUPTI owns a buffer
// from request to completion, so its own backlog and the number of launching threads (one buffer each since CUDA 12.3)
// decide how much is out.
//
// A buffer comes back when all that is in it has ended, so what ended last is with CUPTI as long as the buffer has
// room: small buffers are what keeps it from being lost with the process (docs/recording.md, "What a killed process
// keeps", has the measurement behind the size).
//
// CUPTI zeroes each buffer that it is given, in the launching thread. CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER
// would leave that to us, and to every other user of CUPTI in the process, whose buffers are not zero: it stays as it is.
//
// CUPTI before 12.9 crashes on NULL, so there is always a buffer: when all are out, or no memory is available, the
// sink, which is shared and whose contents are thrown away and counted.
inline constexpr std::size_t kBufferBytes = 32 << 10;
inline constexpr std::size_t kBuffers = 8192;

struct Buffer {
  std::uint8_t* memory;  // 8-byte aligned; holds whatever was in it: CUPTI zeroes it before it writes
  std::size_t bytes;
};

enum class BufferOwner { ours, sink, foreign };

// Reserves the memory, once, and touches the first `spare` buffers. Not for application threads in a launch.
void open_buffer_pool(std::size_t spare) noexcept;
// Never null. Thread-safe, without a lock. `thread` is the one that asks, for held_buffers(); not 0.
Buffer take_buffer(std::uint32_t thread) noexcept;
// Whose memory it is: another tool's buffers can reach our callback, and ours theirs.
BufferOwner owner_of(const std::uint8_t* buffer) noexcept;
// Keeps it for the next request. Only for buffers that are `ours`.
void give_back_buffer(std::uint8_t* buffer) noexcept;

// What was taken and did not come back. For our own thread.
struct HeldBuffers {
  std::size_t all;
  std::size_t of_a_thread;  // of the one that has most
};
HeldBuffers held_buffers() noexcept;

// CUPTI, which had them, has been ended: nobody holds what did not come back, and it may stay away. For our own thread.
void forget_held_buffers() noexcept;

// Touches unused buffers until `spare` touched ones are free. For our own thread.
void keep_spare_buffers(std::size_t spare) noexcept;

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                  std::size_t valid);

// Adds to the header what CUPTI dropped of this context and stream since it was last asked; null and 0 are its global
// queue. With each buffer, and after each flush: a record may be dropped where no buffer comes after it. Not under a lock
// of ours: CUPTI may hold one of its own that a buffer callback waits for.
void count_dropped(CUcontext context, std::uint32_t stream) noexcept;

// What was delivered since the process began: records, CPU time of threads that are not ours, and when a buffer came
// last (CLOCK_MONOTONIC); and the work of the GPU among them.
struct Delivered {
  std::uint64_t records;
  std::uint64_t foreign_cpu_ns;
  std::uint64_t last_mono_ns;
  GpuWork work;
};
Delivered delivered() noexcept;

}  // namespace agent
