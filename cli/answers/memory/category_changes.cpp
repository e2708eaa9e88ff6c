#include "cli/answers/memory/category_changes.h"

#include <algorithm>
#include <array>
#include <span>

#include "cli/answers/memory/timeline.h"

namespace cli::memory {
namespace {

std::vector<CategoryChange> changes_of(const snapshot::Snapshot& snapshot, std::int64_t device,
                                       const std::vector<std::int64_t>& times_ns) {
  std::vector<CategoryChange> changes;
  std::array<std::uint64_t, kCategories> before{};
  bool is_any_known = false;
  walk_categories(snapshot, device, [&](std::size_t state, std::int64_t, std::span<const std::uint64_t> bytes) {
    // A state follows from the entry before it. The first state has the time of the first entry.
    const std::int64_t ns = times_ns[state == 0 ? 0 : state - 1];
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == before[i]) continue;
      before[i] = bytes[i];
      const auto category = static_cast<Category>(i);
      is_any_known |= category != Category::unknown;
      changes.push_back({ns, device, category, bytes[i]});
    }
  });
  return is_any_known ? changes : std::vector<CategoryChange>();
}

}  // namespace

CategoryChanges category_changes(TraceMemory& memory) {
  CategoryChanges of_processes;
  for (ProcessId process = 0; const snapshot::Snapshot& snapshot : memory.finish()) {
    std::vector<CategoryChange>& all = of_processes.emplace_back();
    for (const auto& [device, times_ns] : memory.take_allocator_times_ns(process++)) {
      const auto changes = changes_of(snapshot, device, times_ns);
      all.insert(all.end(), changes.begin(), changes.end());
    }
    std::ranges::stable_sort(all, {}, &CategoryChange::ns);
  }
  return of_processes;
}

}  // namespace cli::memory
