// Access of the writer to the mapped file. All its stores go through here, so that a test can stop after each one
// (tests/unit/common/test_commit_order.cpp) and ThreadSanitizer sees atomics wherever another thread may read.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace trace {

// The memory of the machine. Payload is stored in relaxed 8-byte words, which are ordinary moves on every target.
struct SharedMemory {
  static void store(std::uint64_t& word, std::uint64_t value) { __atomic_store_n(&word, value, __ATOMIC_RELAXED); }
  static void store_release(std::uint64_t& word, std::uint64_t value) {
    __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  }
  static std::uint64_t load(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
  static std::uint64_t load_acquire(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
  static bool exchange_if(std::uint64_t& word, std::uint64_t expected, std::uint64_t desired) {
    return __atomic_compare_exchange_n(&word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }
  static std::uint64_t add(std::uint64_t& word, std::uint64_t value) {
    return __atomic_fetch_add(&word, value, __ATOMIC_RELAXED);
  }
  // Makes earlier stores visible before later ones. ThreadSanitizer does not support fences, and gcc rejects them under
  // it.
  static void store_store_barrier() {
#if !defined(__SANITIZE_THREAD__)
    std::atomic_thread_fence(std::memory_order_release);
#endif
  }
  static void load_load_barrier() {
#if !defined(__SANITIZE_THREAD__)
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
  }
};

// Copies `bytes` from ordinary memory into the file, rounded up to whole words and padded with zeros.
template <typename Memory>
void store_bytes(std::byte* to, const void* from, std::size_t bytes) {
  auto* words = reinterpret_cast<std::uint64_t*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  for (; bytes >= 8; bytes -= 8, source += 8) {
    std::uint64_t word;
    std::memcpy(&word, source, 8);
    Memory::store(*words++, word);
  }
  if (bytes > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, source, bytes);
    Memory::store(*words, word);
  }
}

}  // namespace trace
