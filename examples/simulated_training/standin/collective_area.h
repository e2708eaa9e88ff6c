// What the ranks of a job share so that a collective starts on each when its stream reaches it and ends on all soon
// after the latest start. Made by the parent, mapped by every rank; zero is its first state.
#pragma once
#include <atomic>
#include <cstdint>

namespace sim {

inline constexpr std::uint32_t kMaxRanks = 256;
// A rank is at most one collective ahead of the slowest, so a few would do.
inline constexpr std::uint32_t kCollectiveSlots = 64;
inline constexpr std::uint32_t kLanes = 4;

struct Arrival {
  std::atomic<std::uint64_t> number;    // of the collective that arrived here last; written after start_ns
  std::atomic<std::uint64_t> start_ns;  // true clock
};

struct CollectiveArea {
  std::uint32_t ranks;
  std::atomic<std::uint32_t> waits_for_ever;    // else a rank that does not come is taken for gone after 2 s
  std::atomic<std::uint32_t> joined;            // ranks that are in ncclCommInitRank or behind it
  std::atomic<std::uint32_t> gone[kMaxRanks];   // 1: this rank does not come any more
  std::atomic<std::uint32_t> wakes[kMaxRanks];  // futex: changes when this rank's executor has to look again
  Arrival arrivals[kLanes][kCollectiveSlots][kMaxRanks];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace sim
