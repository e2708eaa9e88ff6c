#include "agent/activity/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

namespace agent {
namespace {

// A stack of free buffers by number, and behind it those that were never used. The head is (tag << 32 | number + 1), the
// tag counts changes (so that a buffer that went and came back is noticed); 0 in the low half: empty.
class Pool {
 public:
  void place(std::uint8_t* base) noexcept { base_.store(base, std::memory_order_release); }
  bool is_placed() const noexcept { return base_.load(std::memory_order_acquire) != nullptr; }
  std::size_t free_used_ones() const noexcept { return free_.load(std::memory_order_relaxed); }

  std::uint8_t* take(std::uint32_t thread) noexcept {
    std::uint32_t number;
    if (!pop(number) && !draw_unused(number)) return nullptr;
    threads_[number].store(thread, std::memory_order_relaxed);
    return at(number);
  }

  std::uint8_t* take_unused() noexcept {
    std::uint32_t number;
    return draw_unused(number) ? at(number) : nullptr;
  }

  void keep(std::uint8_t* buffer) noexcept {
    const auto number = static_cast<std::uint32_t>((buffer - at(0)) / static_cast<std::ptrdiff_t>(kBufferBytes));
    threads_[number].store(0, std::memory_order_relaxed);
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
    return base != nullptr && buffer >= base && buffer < base + kBufferBytes * kBuffers;
  }

  void forget_threads() noexcept {
    for (std::atomic<std::uint32_t>& thread : threads_) thread.store(0, std::memory_order_relaxed);
  }

  // Writes the threads of all buffers that are out, one for each; their number.
  std::size_t threads(std::uint32_t (&found)[kBuffers]) const noexcept {
    std::size_t count = 0;
    const std::size_t used = std::min<std::size_t>(unused_.load(std::memory_order_relaxed), kBuffers);
    for (std::size_t i = 0; i < used; ++i) {
      if (const std::uint32_t thread = threads_[i].load(std::memory_order_relaxed)) found[count++] = thread;
    }
    return count;
  }

 private:
  std::uint8_t* at(std::uint32_t number) const noexcept {
    return base_.load(std::memory_order_relaxed) + number * kBufferBytes;
  }

  bool draw_unused(std::uint32_t& number) noexcept {
    if (!is_placed() || unused_.load(std::memory_order_relaxed) >= kBuffers) return false;
    number = unused_.fetch_add(1, std::memory_order_relaxed);
    return number < kBuffers;
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
  std::atomic<std::uint32_t> next_[kBuffers]{};
  std::atomic<std::uint32_t> threads_[kBuffers]{};  // 0: not out
};

constinit Pool s_buffers{};
alignas(64) constinit std::uint8_t s_sink[kBufferBytes]{};

// In small pages: where the system makes huge ones unasked, the first record in a buffer would zero 2 MiB in the middle
// of a launch, and all that is reserved would soon be there.
std::uint8_t* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return static_cast<std::uint8_t*>(memory);
}

void touch(std::uint8_t* buffer) {
  for (std::size_t at = 0; at < kBufferBytes; at += 4096) static_cast<volatile std::uint8_t*>(buffer)[at] = 0;
}

}  // namespace

void open_buffer_pool(std::size_t spare) noexcept {
  if (!s_buffers.is_placed()) s_buffers.place(reserve(kBufferBytes * kBuffers));
  keep_spare_buffers(spare);
}

Buffer take_buffer(std::uint32_t thread) noexcept {
  std::uint8_t* taken = s_buffers.take(thread);
  return {taken != nullptr ? taken : s_sink, kBufferBytes};
}

BufferOwner owner_of(const std::uint8_t* buffer) noexcept {
  if (s_buffers.owns(buffer)) return BufferOwner::ours;
  return buffer == s_sink ? BufferOwner::sink : BufferOwner::foreign;
}

void give_back_buffer(std::uint8_t* buffer) noexcept { s_buffers.keep(buffer); }

HeldBuffers held_buffers() noexcept {
  static constinit std::uint32_t s_threads_of_buffers[kBuffers]{};
  HeldBuffers held{s_buffers.threads(s_threads_of_buffers), 0};
  std::sort(s_threads_of_buffers, s_threads_of_buffers + held.all);
  std::size_t same = 0;
  for (std::size_t i = 0; i < held.all; ++i) {
    same = i != 0 && s_threads_of_buffers[i] == s_threads_of_buffers[i - 1] ? same + 1 : 1;
    held.of_a_thread = std::max(held.of_a_thread, same);
  }
  return held;
}

void forget_held_buffers() noexcept { s_buffers.forget_threads(); }

void keep_spare_buffers(std::size_t spare) noexcept {
  while (s_buffers.free_used_ones() < spare) {
    std::uint8_t* buffer = s_buffers.take_unused();
    if (buffer == nullptr) return;
    touch(buffer);
    s_buffers.keep(buffer);
  }
}

}  // namespace agent
