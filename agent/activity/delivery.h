// Buffers on their way: CUPTI asks for an empty one, and hands it back full. Requests come in application threads in the
// middle of a launch, completions on CUPTI's worker and on whoever flushes.
#pragma once
#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "agent/translate/gpu_work.h"

namespace agent {

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
