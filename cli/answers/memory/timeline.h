// Walks through the memory in use over time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "cli/answers/memory/categories.h"

namespace cli::memory {

// Calls visit(state, block, is_added, time in us) for each block in use at the start of the history, with state 0 and
// kNoTime. Then calls it for each block that an entry adds or removes, with the state after that entry. LiveBlock::released
// is set only if `with_releases` is true. This uses 8 bytes of memory per entry.
void walk_blocks(const snapshot::Snapshot& snapshot, std::int64_t device,
                 const std::function<void(std::size_t, const LiveBlock&, bool, std::int64_t)>& visit,
                 bool with_releases = true);

// Divides the memory in use into groups. group_of() returns the group of a block, which is less than `groups`. Calls
// visit(state, time in us, bytes by group) after each change, with the time of the entry that made it. The first call is
// for the start of the history, with the time of the first change. Times are snapshot::kNoTime in files without times.
// `with_releases`: see walk_blocks().
void walk_groups(const snapshot::Snapshot& snapshot, std::int64_t device, std::size_t groups,
                 const std::function<std::size_t(const LiveBlock&)>& group_of,
                 const std::function<void(std::size_t, std::int64_t, std::span<const std::uint64_t>)>& visit,
                 bool with_releases = true);

inline constexpr std::size_t kCategories = 6;

// Calls walk_groups() with the values of Category as groups. Memory that was allocated before the history is in
// Category::unknown.
void walk_categories(const snapshot::Snapshot& snapshot, std::int64_t device,
                     const std::function<void(std::size_t, std::int64_t, std::span<const std::uint64_t>)>& visit);

}  // namespace cli::memory
