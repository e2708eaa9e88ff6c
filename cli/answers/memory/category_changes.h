// Memory in use by category over time, for the counters of an export. A category follows from later events (categories.h),
// so it needs a walk of its own before that of the export.
#pragma once
#include <cstdint>
#include <vector>

#include "cli/answers/memory/categories.h"
#include "cli/answers/memory/from_trace.h"

namespace cli::memory {

struct CategoryChange {
  std::int64_t ns = 0;
  std::int64_t device = 0;
  Category category{};
  std::uint64_t bytes = 0;  // in use from now on
};

// The changes of each process, by ProcessId, in order of time. Several changes may have the same time; the last one
// holds.
using CategoryChanges = std::vector<std::vector<CategoryChange>>;

// Returns the changes of the memory that PyTorch's allocator manages. A device without memory of a known category has
// none. Call it once, after the last event of the walk.
CategoryChanges category_changes(TraceMemory& memory);

}  // namespace cli::memory
