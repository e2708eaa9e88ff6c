// Collectives over the ranks' shared area, and the executor's sleep: an arrival on one rank wakes the others.
#pragma once
#include <cstdint>

#include "../work.h"

namespace sim {

// This rank's stream reached the collective at `start_ns`.
void arrive(const Meeting& meeting, std::uint64_t start_ns);
// True: all ranks that still live have arrived (or the wait for them took too long and they count as gone), and
// `latest_ns` is the latest start.
bool latest_arrival(const Meeting& meeting, std::uint64_t now, std::uint64_t& latest_ns);
// This rank's start minus the median of those that came, of an even number the earlier in the middle; once all have come.
std::int64_t lateness_ns(const Meeting& meeting, std::uint64_t start_ns);
std::uint64_t next_collective(std::uint32_t lane);
// This rank comes to no collective any more.
void leave_collectives();

std::uint32_t wake_ticket();
void wake_executor();
// Returns at once when wake_executor() was called, here or by another rank, after the ticket was taken.
void sleep_until_woken(std::uint32_t ticket, std::uint64_t ns);

}  // namespace sim
