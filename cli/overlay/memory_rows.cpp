#include "cli/overlay/memory_rows.h"

#include <algorithm>

#include "cli/model/device_words.h"
#include "cli/model/rank_list.h"

namespace cli {
namespace {

constexpr std::int32_t kHost = 0;  // c10::DeviceType::CPU

bool knows_all_allocations(const Process& p) {
  const auto of_memory = [](const KindCounts& counts) { return counts[static_cast<std::size_t>(Kind::memory)]; };
  return of_memory(p.overwritten) == 0 && of_memory(p.lost) == 0 && p.lost_unknown_kind == 0 &&
         p.recorder.sunk_buffers == 0 &&
         std::none_of(p.notices.begin(), p.notices.end(), [](const Notice& n) { return n.code == trace::NoticeCode::gap; });
}

}  // namespace

MemoryRows::MemoryRows(const Catalog& catalog, ProcessId process, DerivedSink& sink)
    : catalog_(&catalog),
      process_(process),
      sink_(&sink),
      all_known_(knows_all_allocations(catalog.processes[process])) {}

void MemoryRows::event(const Event& event, const Facts& facts) {
  if (const auto* memory = facts.get<MemoryFacts>()) allocation(event, *memory);
  if (const auto* allocator = facts.get<AllocatorFacts>()) allocator_says(event.start_ns, *allocator);
}

void MemoryRows::allocator_says(std::int64_t ns, const AllocatorFacts& facts) {
  const bool host = facts.device_type == kHost;
  Rows& of = rows(host ? -1 : facts.device);
  if ((facts.has & AllocatorFacts::kAllocated) != 0) of.allocated.set(ns, static_cast<double>(facts.allocated_bytes));
  if ((facts.has & AllocatorFacts::kReserved) != 0 && !host) {
    of.reserved.set(ns, static_cast<double>(facts.reserved_bytes));
  }
}

void MemoryRows::allocation(const Event& event, const MemoryFacts& facts) {
  if (!is_device_memory(facts.memory) || !facts.is_known()) return;
  if (!all_known_) return void(unknown_ = true);
  Rows& of = rows(catalog_->tracks[event.track].group);
  of.live_bytes += static_cast<std::int64_t>(facts.is_release() ? -event.bytes : event.bytes);
  of.allocated.set(event.start_ns, static_cast<double>(of.live_bytes));
}

MemoryRows::Rows& MemoryRows::rows(std::int64_t device) {
  const auto at = devices_.find(device);
  if (at != devices_.end()) return at->second;
  const RowOut out{sink_, process_, device};
  return devices_.emplace(device, Rows{{out, DerivedRow::allocated}, {out, DerivedRow::reserved}}).first->second;
}

void MemoryRows::cut(std::int64_t at_ns) {
  for (auto& [device, of] : devices_) of.allocated.cut(at_ns), of.reserved.cut(at_ns);
}

void MemoryRows::finish() {
  for (auto& [device, of] : devices_) of.allocated.finish(), of.reserved.finish();
}

void MemoryRows::add_notes(std::vector<std::string>& notes) const {
  if (!unknown_) return;
  const Process& p = catalog_->processes[process_];
  notes.push_back((p.rank >= 0 ? rank_list({p.rank}) : p.source) +
                  ": no track of allocated memory, because some allocations are not in the recording");
}

}  // namespace cli
