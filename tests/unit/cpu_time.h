// What a test used of the processor: on a busy machine the clock on the wall counts the other programs too.
#pragma once
#include <time.h>

#include <cstdint>

inline std::uint64_t thread_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}
