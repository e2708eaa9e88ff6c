// Walks through the memory in use over time.
#pragma once
#include <array>
#include <cstdint>
#include <functional>

#include "cli/answers/memory/categories.h"

namespace cli::memory {

// Calls visit(state, block, is_added, time in us) for each block in use at the start of the history, with state 0 and
// kNoTime. Then calls it for each block that an entry adds or removes, with the state after that entry. LiveBlock::released
// is set only if `with_releases` is true. This uses 8 bytes of memory per entry.
void walk_blocks(const snapshot::Snapshot& snapshot, std::int64_t device,
                 const std::function<void(std::size_t, const LiveBlock&, bool, std::int64_t)>& visit,
                 bool with_releases = true);

inline constexpr std::size_t kCategories = 6;

// Requested bytes by Category. Memory that was allocated before the history is in Category::unknown.
using BytesByCategory = std::array<std::uint64_t, kCategories>;

// Calls visit(state, time in us, bytes) after each change, with the time of the entry that made it. The first call is
// for the start of the history, with the time of the first change. Times are snapshot::kNoTime in files without times.
void walk_timeline(const snapshot::Snapshot& snapshot, std::int64_t device,
                   const std::function<void(std::size_t, std::int64_t, const BytesByCategory&)>& visit);

}  // namespace cli::memory
