#include "cli/overlay/memory_rows.h"

#include "cli/model/rank_list.h"

namespace cli {

MemoryRows::MemoryRows(const Catalog& catalog, ProcessId process, DerivedSink& sink)
    : catalog_(&catalog), process_(process), sink_(&sink), levels_(catalog, process) {}

void MemoryRows::level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) {
  const RowOut out{sink_, process_, device};
  Rows& of = devices_.try_emplace(device, Rows{{out, DerivedRow::allocated}, {out, DerivedRow::reserved}}).first->second;
  (which == MemoryLevel::allocated ? of.allocated : of.reserved).set(ns, static_cast<double>(bytes));
}

void MemoryRows::cut(std::int64_t at_ns) {
  for (auto& [device, of] : devices_) of.allocated.cut(at_ns), of.reserved.cut(at_ns);
}

void MemoryRows::finish() {
  for (auto& [device, of] : devices_) of.allocated.finish(), of.reserved.finish();
}

void MemoryRows::add_notes(std::vector<std::string>& notes) const {
  if (!levels_.misses_allocations()) return;
  const Process& p = catalog_->processes[process_];
  notes.push_back((p.rank >= 0 ? rank_list({p.rank}) : p.source) +
                  ": no track of allocated memory, because some allocations are not in the recording");
}

}  // namespace cli
