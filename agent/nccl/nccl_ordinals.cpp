#include "agent/nccl/nccl_ordinals.h"

#include <atomic>

namespace agent {
namespace {

// Room for sends and receives of eight communicators of a thousand ranks.
constexpr std::size_t kCounters = 16'384;
constexpr std::size_t kEpochs = 4096;
constexpr std::size_t kMostProbes = 64;

struct Entry {
  std::atomic<std::uint64_t> key;  // 0: free
  std::atomic<std::uint64_t> next;
};

constinit Entry s_counters[kCounters]{};
constinit Entry s_epochs[kEpochs]{};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t key = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  key ^= key >> 31;
  return key != 0 ? key : 1;
}

// Found by linear probing, made at its first use; null when the table is full around it, which stays so.
template <std::size_t kEntries>
Entry* entry(Entry (&table)[kEntries], std::uint64_t key) {
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Entry& at = table[(key + i) % kEntries];
    std::uint64_t known = at.key.load(std::memory_order_relaxed);
    if (known == key || (known == 0 && (at.key.compare_exchange_strong(known, key) || known == key))) return &at;
  }
  return nullptr;
}

// What a communicator's entry in s_epochs holds: how often it was made << 32 | rank + 1, or kManyRanks for the latter.
constexpr std::uint64_t kRankBits = 0xffffffff;
constexpr std::uint64_t kManyRanks = kRankBits;

}  // namespace

CallOrdinal next_ordinal(std::uint64_t communicator, trace::NcclClass nccl_class, std::uint32_t peer) noexcept {
  const Entry* made = entry(s_epochs, mix(communicator, 0));
  if (made == nullptr) return {kUnknownOrdinal, 0};
  const std::uint64_t state = made->next.load();
  const std::uint64_t epoch = state >> 32;
  if ((state & kRankBits) == kManyRanks) return {kUnknownOrdinal, static_cast<std::uint32_t>(epoch)};
  const std::uint64_t pair = nccl_class == trace::NcclClass::collective ? 0 : std::uint64_t{peer} + 1;
  const std::uint64_t what = epoch << 40 | pair << 2 | static_cast<std::uint64_t>(nccl_class);
  Entry* counter = entry(s_counters, mix(communicator, what));
  const std::uint64_t ordinal = counter != nullptr ? counter->next.fetch_add(1) : kUnknownOrdinal;
  return {ordinal, static_cast<std::uint32_t>(epoch)};
}

std::uint32_t begin_epoch(std::uint64_t communicator, std::int32_t rank) noexcept {
  Entry* made = entry(s_epochs, mix(communicator, 0));
  if (made == nullptr) return 0;
  const std::uint64_t own = (static_cast<std::uint64_t>(rank) + 1) & kRankBits;
  std::uint64_t before = made->next.load();
  std::uint64_t after;
  do {
    const std::uint64_t known = before & kRankBits;
    after = known == 0 || known == own ? ((before >> 32) + 1) << 32 | own : (before & ~kRankBits) | kManyRanks;
  } while (!made->next.compare_exchange_weak(before, after));
  return static_cast<std::uint32_t>(after >> 32);
}

}  // namespace agent
