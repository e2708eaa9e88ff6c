#include "cli/timeline/gpu/memory_levels.h"

#include <algorithm>

#include "cli/trace/words.h"

namespace cli {
namespace {

constexpr std::int32_t kHost = 0;  // c10::DeviceType::CPU

}  // namespace

bool knows_all_allocations(const Process& p) {
  const auto of_memory = [](const KindCounts& counts) { return counts[static_cast<std::size_t>(Kind::memory)]; };
  return of_memory(p.overwritten) == 0 && of_memory(p.lost) == 0 && p.lost_unknown_kind == 0 &&
         p.recorder.discarded_buffers == 0 && std::none_of(p.notices.begin(), p.notices.end(), [](const Notice& n) {
           return n.code == trace::NoticeCode::gap;
         });
}

MemoryLevels::MemoryLevels(const Catalog& catalog, ProcessId process)
    : catalog_(&catalog), all_known_(knows_all_allocations(catalog.processes[process])) {}

void MemoryLevels::event(const Event& event, const Facts& facts, Out& out) {
  if (const auto* memory = facts.get<MemoryFacts>()) allocation(event, *memory, out);
  if (const auto* allocator = facts.get<AllocatorFacts>()) allocator_says(event.start_ns, *allocator, out);
}

void MemoryLevels::allocator_says(std::int64_t ns, const AllocatorFacts& facts, Out& out) {
  const bool host = facts.device_type == kHost;
  const std::int64_t device = host ? -1 : facts.device;
  if ((facts.has & AllocatorFacts::kAllocated) != 0)
    out.level(device, MemoryLevel::allocated, ns, facts.allocated_bytes);
  if ((facts.has & AllocatorFacts::kReserved) != 0 && !host)
    out.level(device, MemoryLevel::reserved, ns, facts.reserved_bytes);
}

void MemoryLevels::allocation(const Event& event, const MemoryFacts& facts, Out& out) {
  if (!is_device_memory(facts.memory) || !facts.is_known()) return;
  if (!all_known_) {
    misses_allocations_ = true;
    return;
  }
  const std::int64_t device = catalog_->tracks[event.track].group;
  std::int64_t& live_bytes = live_bytes_[device];
  live_bytes += static_cast<std::int64_t>(facts.is_release() ? -event.bytes : event.bytes);
  out.level(device, MemoryLevel::driver, event.start_ns, live_bytes);
}

}  // namespace cli
