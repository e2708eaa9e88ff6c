#include "agent/cupti/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace agent {
namespace {

// Buffers of one size: a stack of free ones by number, and behind it those that were never used. The head is
// (tag << 32 | number + 1), the tag counts changes (so that a buffer that went and came back is noticed); 0 in the low
// half: empty.
template <std::size_t Bytes, std::size_t Count>
class Pool {
 public:
  void place(std::uint8_t* base) noexcept { base_.store(base, std::memory_order_release); }
  bool is_placed() const noexcept { return base_.load(std::memory_order_acquire) != nullptr; }
  std::size_t free_used_ones() const noexcept { return free_.load(std::memory_order_relaxed); }

  std::uint8_t* take() noexcept {
    std::uint32_t number;
    return pop(number) ? at(number) : take_unused();
  }

  std::uint8_t* take_unused() noexcept {
    if (!is_placed() || unused_.load(std::memory_order_relaxed) >= Count) return nullptr;
    const std::uint32_t number = unused_.fetch_add(1, std::memory_order_relaxed);
    return number < Count ? at(number) : nullptr;
  }

  void keep(std::uint8_t* buffer) noexcept {
    const auto number = static_cast<std::uint32_t>((buffer - at(0)) / static_cast<std::ptrdiff_t>(Bytes));
    std::uint64_t old = head_.load(std::memory_order_relaxed);
    std::uint64_t next;
    do {
      next_[number].store(static_cast<std::uint32_t>(old), std::memory_order_relaxed);
      next = ((old >> 32) + 1) << 32 | (number + 1);
    } while (!head_.compare_exchange_weak(old, next, std::memory_order_release, std::memory_order_relaxed));
    free_.fetch_add(1, std::memory_order_relaxed);
  }

  bool owns(const std::uint8_t* buffer) const noexcept {
    const std::uint8_t* base = base_.load(std::memory_order_acquire);
    return base != nullptr && buffer >= base && buffer < base + Bytes * Count;
  }

 private:
  std::uint8_t* at(std::uint32_t number) const noexcept {
    return base_.load(std::memory_order_relaxed) + number * Bytes;
  }

  bool pop(std::uint32_t& number) noexcept {
    std::uint64_t old = head_.load(std::memory_order_acquire);
    std::uint64_t next;
    do {
      if (static_cast<std::uint32_t>(old) == 0) return false;
      number = static_cast<std::uint32_t>(old) - 1;
      next = ((old >> 32) + 1) << 32 | next_[number].load(std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(old, next, std::memory_order_acquire, std::memory_order_acquire));
    free_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  std::atomic<std::uint8_t*> base_{nullptr};
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint32_t> unused_{0};
  std::atomic<std::size_t> free_{0};
  std::atomic<std::uint32_t> next_[Count]{};
};

constinit Pool<kBufferBytes, kBuffers> s_large{};
constinit Pool<kSmallBytes, kSmallBuffers> s_small{};
alignas(64) constinit std::uint8_t s_sink[kSmallBytes]{};

// In small pages: where the system makes huge ones unasked, the first record in a buffer would zero 2 MiB in the middle
// of a launch, and all that is reserved would soon be there.
std::uint8_t* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return static_cast<std::uint8_t*>(memory);
}

// Whether all of `bytes` (a multiple of 8) are zero. Reading an untouched page does not make it resident.
bool is_zero(const std::uint8_t* at, std::size_t bytes) {
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, at + i, 8);
    any |= word;
  }
  return any == 0;
}

void clear(std::uint8_t* buffer, std::size_t used, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  std::size_t at = std::min((used + kPage - 1) / kPage * kPage, bytes);
  std::memset(buffer, 0, at);
  for (; at < bytes && !is_zero(buffer + at, kPage); at += kPage) std::memset(buffer + at, 0, kPage);
}

void touch(std::uint8_t* buffer, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile std::uint8_t*>(buffer)[at] = 0;
}

}  // namespace

void open_buffer_pool(std::size_t spare) noexcept {
  if (!s_large.is_placed()) s_large.place(reserve(kBufferBytes * kBuffers));
  if (!s_small.is_placed()) s_small.place(reserve(kSmallBytes * kSmallBuffers));
  keep_spare_buffers(spare);
}

Buffer take_buffer() noexcept {
  if (std::uint8_t* large = s_large.take()) return {large, kBufferBytes};
  if (std::uint8_t* small = s_small.take()) return {small, kSmallBytes};
  return {s_sink, kSmallBytes};
}

BufferOwner owner_of(const std::uint8_t* buffer) noexcept {
  if (s_large.owns(buffer) || s_small.owns(buffer)) return BufferOwner::ours;
  return buffer == s_sink ? BufferOwner::sink : BufferOwner::foreign;
}

void give_back_buffer(std::uint8_t* buffer, std::size_t used) noexcept {
  const bool large = s_large.owns(buffer);
  clear(buffer, used, large ? kBufferBytes : kSmallBytes);
  if (large) return s_large.keep(buffer);
  s_small.keep(buffer);
}

void keep_spare_buffers(std::size_t spare) noexcept {
  while (s_large.free_used_ones() < spare) {
    std::uint8_t* buffer = s_large.take_unused();
    if (buffer == nullptr) return;
    touch(buffer, kBufferBytes);
    s_large.keep(buffer);
  }
}

}  // namespace agent
