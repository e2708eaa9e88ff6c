// CUPTI's buffer callbacks: CUPTI requests empty buffers and returns full ones. Requests are made on application
// threads in the middle of a launch, completions on CUPTI's worker thread and on any thread that flushes.
#pragma once
#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "agent/translate/gpu_work.h"

namespace agent {

// Buffers for CUPTI. A request in an application thread, in the middle of a launch, takes a buffer from a lock-free
// list without a system call. The memory is reserved once and touched as it is used; its size is the budget. CUPTI owns
// a buffer from request to completion, so the number of buffers in use depends on its own backlog and the number of
// launching threads (one buffer each since CUDA 12.3).
//
// CUPTI returns a buffer when all work in it has ended, so it keeps the most recent records while the buffer has room.
// Small buffers reduce the loss when the process is killed (docs/recording.md, "What a killed process keeps", contains
// the measurement for the size).
//
// CUPTI zeroes each buffer in the launching thread. CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER would leave that to
// us, but it would also leave the buffers of every other CUPTI user in the process unzeroed. It is therefore not changed.
//
// CUPTI before 12.9 crashes on NULL, so there is always a buffer: if all are in use, or no memory is available, it is
// the shared sink. Its content is counted and discarded.
inline constexpr std::size_t kBufferBytes = 32 << 10;
inline constexpr std::size_t kBuffers = 8192;

enum class BufferOwner { ours, sink, foreign };

// Reserves the memory once and touches the first `spare` buffers. Not for application threads in a launch.
void open_buffer_pool(std::size_t spare) noexcept;
// Returns a buffer of kBufferBytes, never null, 8-byte aligned, and not cleared, because CUPTI zeroes it. Thread-safe,
// without locks. `thread` is the requesting thread, for held_buffers(); not 0.
std::uint8_t* take_buffer(std::uint32_t thread) noexcept;
// Returns the owner of the memory, because another tool's buffers can reach our callback, and ours can reach theirs.
BufferOwner owner_of(const std::uint8_t* buffer) noexcept;
// Keeps the buffer for the next request. Only for buffers that are `ours`.
void give_back_buffer(std::uint8_t* buffer) noexcept;

// Buffers that were requested and not returned. For our own thread.
struct HeldBuffers {
  std::size_t all;
  std::size_t of_a_thread;  // of the thread with most
};
HeldBuffers held_buffers() noexcept;

// Forgets the held buffers after CUPTI was shut down, because it may never return them. For our own thread.
void forget_held_buffers() noexcept;

// Touches unused buffers until `spare` touched ones are free. For our own thread.
void keep_spare_buffers(std::size_t spare) noexcept;

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                                  std::size_t valid);

// Adds the records that CUPTI dropped from this context and stream since the last call to the header; null and 0 are
// its global queue. Called with each buffer and after each flush, because a record may be dropped without a buffer
// after it. Not under a lock of ours: CUPTI may hold a lock of its own for which a buffer callback waits.
void count_dropped(CUcontext context, std::uint32_t stream) noexcept;

// Totals since the process began: records, CPU time of foreign threads, time of the last buffer (CLOCK_MONOTONIC), and
// the GPU work among the records.
struct Delivered {
  std::uint64_t records;
  std::uint64_t foreign_cpu_ns;
  std::uint64_t last_mono_ns;
  GpuWork work;
};
Delivered delivered() noexcept;

}  // namespace agent
