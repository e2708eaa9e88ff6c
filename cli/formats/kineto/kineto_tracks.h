// Where the events of one process are written in a Kineto profile: on the very pid and tid that they had in a Kineto
// file, and for recordings as Kineto writes them: pid = GPU and tid = stream for work, the process and its threads for
// the host, pid -1 for overhead, a thread "stream N (sync)" beside each stream that was waited for.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

class KinetoTracks {
 public:
  KinetoTracks(const Catalog& catalog, ProcessId process);

  // `"pid": 0, "tid": 7`. At the first use of a thread of a recording its metadata events are added to `metadata`.
  std::string_view where(const Event& event, std::string& metadata);
  // The thread that a process begins with; none where it has no events.
  std::optional<TrackId> main_track() const;
  // The same, for what belongs to no thread.
  std::string main_thread(std::string& metadata);

 private:
  enum Variant : std::size_t { plain, overhead, stream_sync, variant_count };
  struct Thread {
    std::int64_t pid, tid;
    std::string name;
    std::int64_t sort_index;
  };

  Variant variant(const Event& event) const;
  Thread thread(TrackId id, Variant variant) const;
  Thread other_thread(const Track& track) const;
  std::string describe(const Thread& thread, std::string& metadata);
  void describe_process(std::int64_t pid, std::string& metadata);

  const Catalog& catalog_;
  const Process& process_;
  std::int64_t host_pid_;
  std::vector<std::array<std::string, variant_count>> where_;  // by TrackId
  std::set<std::int64_t> described_;                           // pids
};

}  // namespace cli
