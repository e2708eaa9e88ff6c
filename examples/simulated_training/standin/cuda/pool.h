// Memory pools.
#pragma once
#include <atomic>
#include <cstdint>

#include "../events.h"

namespace sim {

struct Pool {
  std::uint64_t address;
  std::uint32_t device;
  std::uint64_t release_threshold_bytes;
  std::atomic<std::uint64_t> bytes{0}, used_bytes{0};
};

void add_pool(Note& note, const Pool& pool);
// More or less of the pool is in use; it grows with its use and shrinks only when it is trimmed.
void use_pool(Pool& pool, std::int64_t bytes);

}  // namespace sim
