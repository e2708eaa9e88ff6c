// How much memory this process may still take before its control group kills something: a ring on tmpfs is memory.
#pragma once
#include <cstdint>

namespace agent {

// The least of (limit - use) over the memory cgroups, v2 and v1, above this process; UINT64_MAX where nothing limits
// it. `root`: "" but in tests.
std::uint64_t memory_room(const char* root = "") noexcept;

}  // namespace agent
