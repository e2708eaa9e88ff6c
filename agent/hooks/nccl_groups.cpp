#include "agent/hooks/nccl_groups.h"

#include <atomic>

namespace agent {
namespace {

// Not in the thread's own storage, of which a library that is loaded late has little. A thread that ends within a group
// leaves its list taken. All zero at first, so that it takes no room in the file.
struct Awaited {
  static constexpr std::size_t kMost = 64;
  std::atomic<bool> taken;
  std::size_t count;
  void** handles[kMost];
  std::uint64_t names[kMost];
  std::int32_t ranks[kMost];
};
constinit Awaited s_lists[64]{};

struct OpenGroups {
  std::uint32_t depth;
  Awaited* awaited;  // null: nothing is
};
constinit thread_local OpenGroups t_groups __attribute__((tls_model("initial-exec"))){};

Awaited* free_list() {
  for (Awaited& list : s_lists) {
    if (!list.taken.exchange(true, std::memory_order_acquire)) return &list;
  }
  return nullptr;
}

void name_all(const Awaited& awaited) {
  for (std::size_t i = 0; i < awaited.count; ++i) {
    name_communicator(*awaited.handles[i], {awaited.names[i], awaited.ranks[i]});
  }
}

}  // namespace

void nccl_group_begins() noexcept { ++t_groups.depth; }

void name_at_group_end(void** handle, const NamedCommunicator& named) noexcept {
  if (t_groups.depth == 0) return;
  if (t_groups.awaited == nullptr) t_groups.awaited = free_list();
  Awaited* awaited = t_groups.awaited;
  if (awaited == nullptr || awaited->count == Awaited::kMost) return;
  const std::size_t at = awaited->count++;
  awaited->handles[at] = handle;
  awaited->names[at] = named.name;
  awaited->ranks[at] = named.rank;
}

void nccl_group_ends(bool made) noexcept {
  if (t_groups.depth == 0 || --t_groups.depth > 0) return;
  Awaited* awaited = t_groups.awaited;
  if (awaited == nullptr) return;
  if (made) name_all(*awaited);
  t_groups.awaited = nullptr;
  awaited->count = 0;
  awaited->taken.store(false, std::memory_order_release);
}

}  // namespace agent
