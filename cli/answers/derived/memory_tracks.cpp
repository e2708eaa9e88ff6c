#include "cli/answers/derived/memory_tracks.h"

#include "cli/trace/ranks.h"

namespace cli {

MemoryTracks::MemoryTracks(const Catalog& catalog, ProcessId process, DerivedSink& sink)
    : catalog_(&catalog), process_(process), sink_(&sink), levels_(catalog, process) {}

void MemoryTracks::level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) {
  const TrackOut out{sink_, process_, device};
  Tracks& of = devices_.try_emplace(device, Tracks{{out, DerivedTrack::allocated}, {out, DerivedTrack::reserved}}).first->second;
  (which == MemoryLevel::allocated ? of.allocated : of.reserved).set(ns, static_cast<double>(bytes));
}

void MemoryTracks::cut(std::int64_t at_ns) {
  for (auto& [device, of] : devices_) {
    of.allocated.cut(at_ns);
    of.reserved.cut(at_ns);
  }
}

void MemoryTracks::finish() {
  for (auto& [device, of] : devices_) {
    of.allocated.finish();
    of.reserved.finish();
  }
}

void MemoryTracks::add_notes(std::vector<std::string>& notes) const {
  if (!levels_.misses_allocations()) return;
  const Process& p = catalog_->processes[process_];
  notes.push_back((p.rank >= 0 ? rank_list({p.rank}) : p.source) +
                  ": no track of allocated memory, because some allocations are not in the recording");
}

}  // namespace cli
