#include "agent/torch/operator_contexts.h"

#include <atomic>

namespace agent {
namespace {

// Laid out as an object of a class with a virtual destructor.
struct Context {
  const void* functions;
  std::uint32_t next;  // of a free context: 1 + index of the next free one in its part; 0 if it is the last
};

// Enough for many greenlets with nested operators. Unused pages take no memory.
constexpr std::uint32_t kParts = 16, kOfPart = 1 << 14;
constinit Context s_contexts[kParts * kOfPart]{};

// The free contexts of a part.
struct alignas(64) FreeContexts {
  // Low half: the first one, as in Context::next. High half: a change counter, against the ABA problem.
  std::atomic<std::uint64_t> first{0};
  std::atomic<std::uint32_t> used{0};  // contexts handed out at least once
};
constinit FreeContexts s_free[kParts];
constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;

std::uint64_t changed(std::uint64_t before, std::uint32_t first) { return (before / kOneChange + 1) * kOneChange | first; }

void give_back(void* object) {
  auto* context = static_cast<Context*>(object);
  const std::uint32_t number = number_of_context(context);
  std::atomic<std::uint64_t>& first = s_free[number / kOfPart].first;
  std::uint64_t before = first.load(std::memory_order_relaxed);
  do {
    std::atomic_ref(context->next).store(static_cast<std::uint32_t>(before), std::memory_order_relaxed);
  } while (!first.compare_exchange_weak(before, changed(before, number % kOfPart + 1), std::memory_order_release, std::memory_order_relaxed));
}

void keep(void*) {}

// The virtual table: offset to top, no typeinfo, destructor, deleting destructor.
struct ContextTable {
  std::ptrdiff_t to_top;
  const void* typeinfo;
  void (*destroy)(void*);
  void (*destroy_and_delete)(void*);
};
constexpr ContextTable kContextTable{0, nullptr, keep, give_back};

// Returns null if all are in use.
Context* take(std::uint32_t part) {
  Context* const contexts = s_contexts + part * kOfPart;
  FreeContexts& free = s_free[part];
  std::uint64_t before = free.first.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(before) != 0) {
    Context* context = contexts + static_cast<std::uint32_t>(before) - 1;
    const std::uint32_t next = std::atomic_ref(context->next).load(std::memory_order_relaxed);
    if (free.first.compare_exchange_weak(before, changed(before, next), std::memory_order_acquire, std::memory_order_acquire)) return context;
  }
  std::uint32_t used = free.used.load(std::memory_order_relaxed);
  while (used < kOfPart) {
    if (free.used.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) return contexts + used;
  }
  return nullptr;
}

}  // namespace

const void* new_operator_context(std::uint32_t thread) noexcept {
  Context* context = nullptr;
  for (std::uint32_t i = 0; i < kParts && context == nullptr; ++i) context = take((thread + i) % kParts);
  if (context != nullptr) context->functions = &kContextTable.destroy;
  return context;
}

void free_operator_context(const void* context) noexcept { give_back(const_cast<void*>(context)); }

std::uint32_t number_of_context(const void* context) noexcept { return static_cast<std::uint32_t>(static_cast<const Context*>(context) - s_contexts); }

}  // namespace agent
