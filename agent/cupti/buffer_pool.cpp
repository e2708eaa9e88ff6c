#include "agent/cupti/buffer_pool.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

namespace agent {
namespace {

constexpr std::size_t kMost = 4096;  // 2 GiB: what lies beyond it is unmapped instead of kept

// A stack of free slots. The head is (tag << 32 | slot + 1), the tag counts changes (so that a slot that went and came
// back is noticed); 0 in the low half: empty.
struct Slot {
  std::atomic<std::uint8_t*> buffer;
  std::atomic<std::uint32_t> next;
};

constinit Slot s_slots[kMost]{};
constinit std::atomic<std::uint64_t> s_full{0};   // slots that hold a buffer
constinit std::atomic<std::uint64_t> s_empty{0};  // slots that hold none
constinit std::atomic<std::uint32_t> s_made{0};   // slots ever used
constinit std::atomic<std::uint32_t> s_spare{0};  // buffers in s_full, about

void push(std::atomic<std::uint64_t>& head, std::uint32_t slot) {
  std::uint64_t old = head.load(std::memory_order_relaxed);
  std::uint64_t next;
  do {
    s_slots[slot].next.store(static_cast<std::uint32_t>(old), std::memory_order_relaxed);
    next = ((old >> 32) + 1) << 32 | (slot + 1);
  } while (!head.compare_exchange_weak(old, next, std::memory_order_release, std::memory_order_relaxed));
}

bool pop(std::atomic<std::uint64_t>& head, std::uint32_t& slot) {
  std::uint64_t old = head.load(std::memory_order_acquire);
  std::uint64_t next;
  do {
    if (static_cast<std::uint32_t>(old) == 0) return false;
    slot = static_cast<std::uint32_t>(old) - 1;
    next = ((old >> 32) + 1) << 32 | s_slots[slot].next.load(std::memory_order_relaxed);
  } while (!head.compare_exchange_weak(old, next, std::memory_order_acquire, std::memory_order_acquire));
  return true;
}

std::uint8_t* map_buffer(int flags) {
  void* memory = mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

void keep(std::uint8_t* buffer) {
  std::uint32_t slot;
  if (!pop(s_empty, slot)) {
    slot = s_made.load(std::memory_order_relaxed) < kMost ? s_made.fetch_add(1) : kMost;
    if (slot >= kMost) {
      munmap(buffer, kBufferBytes);
      return;
    }
  }
  s_slots[slot].buffer.store(buffer, std::memory_order_relaxed);
  push(s_full, slot);
  s_spare.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint8_t* take_buffer() noexcept {
  std::uint32_t slot;
  if (!pop(s_full, slot)) return map_buffer(0);
  std::uint8_t* buffer = s_slots[slot].buffer.load(std::memory_order_relaxed);
  s_spare.fetch_sub(1, std::memory_order_relaxed);
  push(s_empty, slot);
  return buffer;
}

void give_back_buffer(std::uint8_t* buffer, std::size_t used) noexcept {
  std::memset(buffer, 0, used);
  keep(buffer);
}

void keep_spare_buffers(std::size_t spare) noexcept {
  while (s_spare.load(std::memory_order_relaxed) < spare) {
    std::uint8_t* buffer = map_buffer(MAP_POPULATE);
    if (buffer == nullptr) return;
    keep(buffer);
  }
}

}  // namespace agent
