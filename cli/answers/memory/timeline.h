// Memory in use over time, by category.
#pragma once
#include <array>
#include <cstdint>
#include <functional>

#include "cli/answers/memory/categories.h"

namespace cli::memory {

inline constexpr std::size_t kCategories = 6;

// Requested bytes by Category; what was allocated before the history is unknown.
using BytesByCategory = std::array<std::uint64_t, kCategories>;

// Calls visit(state, time of the entry that led to it, bytes) for the start of the history and after each entry that
// changes the memory in use. Times are snapshot::kNoTime in files without times. Memory: 8 bytes per entry.
void walk_timeline(const snapshot::Snapshot& snapshot, std::int64_t device,
                   const std::function<void(std::size_t, std::int64_t, const BytesByCategory&)>& visit);

}  // namespace cli::memory
