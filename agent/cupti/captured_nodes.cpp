#include "agent/cupti/captured_nodes.h"

#include <atomic>
#include <cstddef>

namespace agent {
namespace {

constexpr std::size_t kSlots = 1u << 16;
constexpr std::size_t kProbes = 16;

constinit std::atomic<std::uint64_t> s_slots[kSlots]{};  // number + 1; 0: free
constinit std::atomic<bool> s_any{false};
constinit std::atomic<bool> s_full{false};

std::size_t first_slot(std::uint64_t node) { return (node * 0x9e3779b97f4a7c15u) >> 48; }

// The slot of the node, or a free one, which `take` then takes. False: neither is near.
bool find(std::uint64_t node, bool take) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    std::atomic<std::uint64_t>& slot = s_slots[(first_slot(node) + i) % kSlots];
    std::uint64_t found = slot.load(std::memory_order_relaxed);
    if (found == 0 && !take) return false;
    if (found == node + 1 || (found == 0 && slot.compare_exchange_strong(found, node + 1))) return true;
    if (found == node + 1) return true;  // another thread was faster
  }
  return false;
}

}  // namespace

void remember_captured(std::uint64_t node) noexcept {
  s_any.store(true, std::memory_order_relaxed);
  if (!find(node, true)) s_full.store(true, std::memory_order_relaxed);
}

bool may_be_captured(std::uint64_t node) noexcept {
  return s_full.load(std::memory_order_relaxed) || find(node, false);
}

bool any_captured() noexcept { return s_any.load(std::memory_order_relaxed); }

}  // namespace agent
