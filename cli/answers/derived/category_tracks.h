// Counters of the memory in use by category (cli/answers/memory/category_changes.h).
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cli/answers/derived/device_tracks.h"
#include "cli/answers/memory/category_changes.h"
#include "cli/trace/derived.h"

namespace cli {

class CategoryTracks {
 public:
  // `changes` and the sink must outlive this object. `drawn` is by ProcessId.
  CategoryTracks(const memory::CategoryChanges& changes, const std::vector<bool>& drawn, DerivedSink& sink)
      : sink_(&sink) {
    for (ProcessId process = 0; process < changes.size(); ++process)
      if (drawn[process]) processes_.push_back({process, &changes[process]});
  }

  // See Overlay::cut.
  void cut(std::int64_t at_ns) {
    for (OfProcess& of : processes_) {
      while (of.next < of.changes->size() && (*of.changes)[of.next].ns < at_ns) set(of);
      for (auto& [key, track] : of.tracks) track.cut(at_ns);
    }
  }
  // Emits the values since the last cut.
  void finish() {
    for (OfProcess& of : processes_) {
      while (of.next < of.changes->size()) set(of);
      for (auto& [key, track] : of.tracks) track.finish();
    }
  }

 private:
  struct OfProcess {
    ProcessId process = 0;
    const std::vector<memory::CategoryChange>* changes = nullptr;
    std::size_t next = 0;                                                       // index in `changes`
    std::map<std::pair<std::int64_t, DerivedTrack>, CounterTrack> tracks = {};  // by device and category
  };

  void set(OfProcess& of) {
    const memory::CategoryChange& change = (*of.changes)[of.next++];
    const auto track = static_cast<DerivedTrack>(static_cast<unsigned>(DerivedTrack::unknown_memory) +
                                                 static_cast<unsigned>(change.category));
    of.tracks.try_emplace({change.device, track}, TrackOut{sink_, of.process, change.device}, track)
        .first->second.set(change.ns, static_cast<double>(change.bytes));
  }

  std::vector<OfProcess> processes_;
  DerivedSink* sink_;
};

}  // namespace cli
