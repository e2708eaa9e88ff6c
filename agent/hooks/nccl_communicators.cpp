#include "agent/hooks/nccl_communicators.h"

#include <unistd.h>

#include <atomic>

#include "agent/clocks/clocks.h"
#include "agent/ring/interner.h"

namespace agent {
namespace {

constexpr std::size_t kCommunicators = 4096;
constexpr std::size_t kCommunicatorProbes = 64;

struct CommunicatorEntry {
  std::atomic<const void*> communicator;  // null: free
  std::atomic<std::uint64_t> name;
  std::atomic<std::int32_t> rank;
  std::atomic<std::uint32_t> splits;
};
constinit CommunicatorEntry s_communicators[kCommunicators]{};

std::size_t slot_of(const void* communicator) {
  return static_cast<std::size_t>((reinterpret_cast<std::uint64_t>(communicator) >> 4) * 0x9e3779b97f4a7c15u >> 52);
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

}  // namespace

std::uint64_t hash_unique_id(const void* id, std::size_t bytes) noexcept {
  const auto* at = static_cast<const signed char*>(id);
  std::uint64_t hash = 5381;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash * 33) ^ static_cast<std::uint64_t>(std::int64_t{at[i]});
  return hash;
}

std::uint64_t hash_split(std::uint64_t parent, std::uint32_t split, std::int32_t color) noexcept {
  const std::uint64_t words[] = {parent, split, static_cast<std::uint64_t>(std::int64_t{color})};
  return hash_bytes(words, sizeof(words), 1);
}

std::uint64_t hash_private() noexcept {
  const std::uint64_t words[] = {static_cast<std::uint64_t>(getpid()), mono_ns(), real_ns()};
  return hash_bytes(words, sizeof(words), 2);
}

// A handle that NCCL gives out again is another communicator.
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

}  // namespace agent
