#include "agent/ring/frame_table.h"

#include "agent/base/hash.h"

namespace agent {

std::uint32_t FrameTable::find(const FrameKey& key) const noexcept {
  const std::uint64_t hash = hash_bytes(key.words, sizeof(key.words), 3);
  for (std::size_t i = 0; i < kTries; ++i) {
    const Known& known = known_[(hash + i) % kKnown];
    const std::uint32_t turn = known.turn.load(std::memory_order_acquire);
    const std::uint32_t ref = known.ref.load(std::memory_order_relaxed);
    if (ref == 0 || turn % 2 != 0) continue;
    bool is_same = true;
    for (std::size_t word = 0; word < FrameKey::kWords; ++word) is_same = is_same && known.words[word].load(std::memory_order_relaxed) == key.words[word];
    std::atomic_thread_fence(std::memory_order_acquire);
    if (is_same && known.turn.load(std::memory_order_relaxed) == turn) return ref;
  }
  return trace::kNoRef;
}

// Uses a free entry if there is one; otherwise replaces entries in turn.
void FrameTable::remember(const FrameKey& key, std::uint32_t ref) noexcept {
  const std::uint64_t hash = hash_bytes(key.words, sizeof(key.words), 3);
  std::size_t at = (hash + replaced_.fetch_add(1, std::memory_order_relaxed) % kTries) % kKnown;
  for (std::size_t i = 0; i < kTries; ++i) {
    if (known_[(hash + i) % kKnown].ref.load(std::memory_order_relaxed) != 0) continue;
    at = (hash + i) % kKnown;
    break;
  }
  Known& known = known_[at];
  std::uint32_t turn = known.turn.load(std::memory_order_relaxed);
  if (turn % 2 != 0 || !known.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire, std::memory_order_relaxed)) return;
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t word = 0; word < FrameKey::kWords; ++word) known.words[word].store(key.words[word], std::memory_order_relaxed);
  known.ref.store(ref, std::memory_order_relaxed);
  known.turn.store(turn + 2, std::memory_order_release);
}

}  // namespace agent
