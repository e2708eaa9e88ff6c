#include "agent/hooks/nccl_communicators.h"

#include <unistd.h>

#include <atomic>

#include "agent/clocks/clocks.h"
#include "agent/ring/interner.h"
#include "common/hash.h"

namespace agent {
namespace {

constexpr std::size_t kCommunicators = 4096;
constexpr std::size_t kCommunicatorProbes = 64;

struct CommunicatorEntry {
  std::atomic<const void*> communicator;  // null if free
  std::atomic<std::uint64_t> name;
  std::atomic<std::int32_t> rank;
  std::atomic<std::uint32_t> splits;
};
constinit CommunicatorEntry s_communicators[kCommunicators]{};

std::size_t slot_of(const void* communicator) {
  return static_cast<std::size_t>(trace::spread(reinterpret_cast<std::uint64_t>(communicator) >> 4) >> 52);
}

CommunicatorEntry* find(const void* communicator, bool add) {
  for (std::size_t i = 0; i < kCommunicatorProbes; ++i) {
    CommunicatorEntry& at = s_communicators[(slot_of(communicator) + i) % kCommunicators];
    const void* known = at.communicator.load(std::memory_order_acquire);
    if (known == communicator) return &at;
    if (known != nullptr) continue;
    if (!add) return nullptr;
    if (at.communicator.compare_exchange_strong(known, communicator) || known == communicator) return &at;
  }
  return nullptr;
}

// These lists are not in thread-local storage, because a library that is loaded late has little of it. A thread that
// ends within a group leaves its list in use. All members are zero at first, so the lists take no space in the file.
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
  Awaited* awaited;  // null if nothing waits
};
constinit thread_local OpenGroups t_groups __attribute__((tls_model("initial-exec"))){};

Awaited* free_list() {
  for (Awaited& list : s_lists) {
    if (!list.taken.exchange(true, std::memory_order_acquire)) return &list;
  }
  return nullptr;
}

}  // namespace

std::uint64_t hash_unique_id(const void* id, std::size_t bytes) noexcept {
  const auto* at = static_cast<const signed char*>(id);
  std::uint64_t hash = 5381;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash * 33) ^ static_cast<std::uint64_t>(std::int64_t{at[i]});
  return hash;
}

std::uint64_t hash_split(std::uint64_t parent, std::uint32_t split, std::int32_t color) noexcept {
  const std::uint64_t words[] = {parent, split, static_cast<std::uint64_t>(std::int64_t{color})};
  return trace::hash_bytes(words, sizeof(words), 1);
}

std::uint64_t hash_private() noexcept {
  const std::uint64_t words[] = {static_cast<std::uint64_t>(getpid()), mono_ns(), real_ns()};
  return trace::hash_bytes(words, sizeof(words), 2);
}

// A handle that NCCL reuses is another communicator.
void name_communicator(const void* communicator, const NamedCommunicator& named) noexcept {
  CommunicatorEntry* entry = communicator != nullptr ? find(communicator, true) : nullptr;
  if (entry == nullptr) return;
  entry->splits.store(0);
  entry->rank.store(named.rank);
  entry->name.store(named.name, std::memory_order_release);
}

NamedCommunicator named_communicator(const void* communicator) noexcept {
  const CommunicatorEntry* entry = communicator != nullptr ? find(communicator, false) : nullptr;
  if (entry == nullptr) return {};
  return {entry->name.load(std::memory_order_acquire), entry->rank.load()};
}

std::uint32_t count_split(const void* communicator) noexcept {
  CommunicatorEntry* entry = communicator != nullptr ? find(communicator, true) : nullptr;
  return entry != nullptr ? entry->splits.fetch_add(1) + 1 : 0;
}

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
  for (std::size_t i = 0; made && i < awaited->count; ++i)
    name_communicator(*awaited->handles[i], {awaited->names[i], awaited->ranks[i]});
  t_groups.awaited = nullptr;
  awaited->count = 0;
  awaited->taken.store(false, std::memory_order_release);
}

}  // namespace agent
