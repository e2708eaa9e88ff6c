#include "allocation.h"

#include <mutex>
#include <unordered_map>

#include "cbids.h"
#include "notes.h"
#include "pool.h"

namespace sim {
namespace {

constexpr std::uint64_t kFirstAddress = 0x7f4000000000;
constexpr std::uint64_t kAlignment = 2 << 20;

struct Allocations {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Allocation> live;
  std::uint64_t next = kFirstAddress;
};

Allocations& allocations() {
  static auto* const made = new Allocations;
  return *made;
}

void tell_memory(const Call& call, std::uint32_t operation, const Allocation& of, const Stream* stream) {
  Note note = make_note(NoteKind::memory, current_context(), stream);
  note.correlation = call.correlation();
  note.type = operation;
  note.memory = of.memory;
  note.address = of.address;
  note.bytes = of.bytes;
  note.is_async = stream != nullptr;
  if (of.pool != nullptr) add_pool(note, *of.pool);
  tell(note);
}

bool take(std::uint64_t address, Allocation& taken) {
  const std::lock_guard lock(allocations().mutex);
  const auto found = allocations().live.find(address);
  if (found == allocations().live.end()) return false;
  taken = found->second;
  allocations().live.erase(found);
  return true;
}

}  // namespace

std::uint64_t draw_address(std::size_t bytes) {
  const std::lock_guard lock(allocations().mutex);
  const std::uint64_t address = allocations().next;
  allocations().next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return address;
}

std::uint64_t device_bytes() {
  const std::lock_guard lock(allocations().mutex);
  std::uint64_t sum = 0;
  for (const auto& [address, each] : allocations().live) {
    sum += each.memory == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ? each.bytes : 0;
  }
  return sum;
}

bool is_pinned(const void* host) {
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  const std::lock_guard lock(allocations().mutex);
  for (const auto& [begin, each] : allocations().live) {
    if (each.memory == CUPTI_ACTIVITY_MEMORY_KIND_PINNED && address >= begin && address < begin + each.bytes)
      return true;
  }
  return false;
}

void allocated(const Call& call, const Allocation& allocation, const Stream* stream) {
  {
    const std::lock_guard lock(allocations().mutex);
    allocations().live[allocation.address] = allocation;
  }
  tell_memory(call, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, allocation, stream);
}

bool released(const Call& call, std::uint64_t address, const Stream* stream) {
  Allocation gone{};
  if (!take(address, gone)) return false;
  if (gone.pool != nullptr) use_pool(*gone.pool, -static_cast<std::int64_t>(gone.bytes));
  tell_memory(call, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, gone, stream);
  return true;
}

}  // namespace sim
