// The tracks of a process's memory, per device (cli/timeline/gpu/memory_levels.h); the host's are on the tracks of the whole process.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/timeline/gpu/memory_levels.h"
#include "cli/trace/catalog.h"
#include "cli/answers/derived/device_tracks.h"

namespace cli {

class MemoryTracks final : private MemoryLevels::Out {
 public:
  MemoryTracks(const Catalog& catalog, ProcessId process, DerivedSink& sink);

  // Any event of this process.
  void event(const Event& event, const Facts& facts) { levels_.event(event, facts, *this); }
  void cut(std::int64_t at_ns);
  void finish();
  void add_notes(std::vector<std::string>& notes) const;

 private:
  struct Tracks {
    CounterTrack allocated, reserved;
  };
  void level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) override;

  const Catalog* catalog_;
  ProcessId process_;
  DerivedSink* sink_;
  MemoryLevels levels_;
  std::map<std::int64_t, Tracks> devices_;
};

}  // namespace cli
