// How long leaving may take: one limit for all that still has to be brought home, however many disks and drivers hang.
#pragma once
#include <cstdint>

namespace agent {

// Called when the process begins to leave.
void begin_exit() noexcept;
// Milliseconds that are left of the limit, at most `most_ms`; all of it while the process is not leaving.
std::uint64_t exit_ms_left(std::uint64_t most_ms) noexcept;

}  // namespace agent
