// NVTX ranges through NVIDIA's headers, each with its line of truth before the call.
#pragma once
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string_view>

#include "../standin/cuda/line.h"

namespace sim {

// A line that begins like all NVTX and NCCL lines: kind, seq, tid, time (true clock) and mono (the host's
// CLOCK_MONOTONIC at that moment).
Line host_line(std::string_view kind);
// To the file, before it returns.
void say(Line& line);

// A range of the calling thread in NVTX's default domain.
class Range {
 public:
  explicit Range(std::string_view name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

void mark(std::string_view name);

// A range that may end in another thread. `number` tells it apart in the truth.
struct OpenRange {
  nvtxRangeId_t id;
  std::uint64_t number;
};
OpenRange start_range(std::string_view name);
void end_range(const OpenRange& range);

// Names this thread for tools and for the kernel.
void name_thread(const char* name);
// The line of a name that the program gave: `id` and `context` 0 where the thing has none.
void say_name(std::string_view resource, std::string_view name, std::uint64_t id, std::uint64_t context,
              const void* handle);

}  // namespace sim
