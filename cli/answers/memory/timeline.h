// Memory in use over time.
#pragma once
#include <array>
#include <cstdint>
#include <functional>

#include "cli/answers/memory/categories.h"

namespace cli::memory {

// Calls visit(state, block, is_added, time in us) for each block in use before the history, with state 0 and kNoTime, and
// for each one that an entry adds or removes, with the state that it leads to. Memory: 8 bytes per entry.
void walk_blocks(const snapshot::Snapshot& snapshot, std::int64_t device,
                 const std::function<void(std::size_t, const LiveBlock&, bool, std::int64_t)>& visit);

inline constexpr std::size_t kCategories = 6;

// Requested bytes by Category; what was allocated before the history is unknown.
using BytesByCategory = std::array<std::uint64_t, kCategories>;

// Calls visit(state, time of the entry that led to it, bytes) for the start of the history, with the time of its first
// change, and after each change. Times are snapshot::kNoTime in files without times.
void walk_timeline(const snapshot::Snapshot& snapshot, std::int64_t device,
                   const std::function<void(std::size_t, std::int64_t, const BytesByCategory&)>& visit);

}  // namespace cli::memory
