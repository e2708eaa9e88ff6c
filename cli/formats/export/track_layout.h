// How tracks are laid out in a viewer: traced processes become Chrome processes in the order of their ranks, their threads and
// streams become Chrome threads with ids that are positive, unique in the process and, where possible, the real ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/formats/export/census.h"
#include "cli/trace/catalog.h"

namespace cli {

// Ids from here on are given out by us: above Linux's largest thread id, 2^22.
inline constexpr std::uint32_t kFirstOwnTid = 5'000'000;

struct ProcessLayout {
  bool shown = false;                     // has an event, or lost all that it had
  std::uint32_t pid = 0;                  // rank + 1 where that is unique: never 0, which viewers give to the idle task
  std::size_t order = 0;                  // by rank, unknown ranks last
  std::string name;                       // "rank 3 node1:NVIDIA H100"
  std::uint32_t next_tid = kFirstOwnTid;  // for lanes that are opened later
};

struct TrackLayout {
  bool shown = false;
  std::uint32_t tid = 0;
  std::size_t order = 0;  // within the process: threads, streams by device, others
  std::string name;       // "thread 4242 (python)", "stream 20 NCCL", "GPU 1 stream 7"
};

// By ProcessId and by TrackId. track_layouts() takes ids from the processes' next_tid.
std::vector<ProcessLayout> process_layouts(const Catalog& catalog, const Census& census);
std::vector<TrackLayout> track_layouts(const Catalog& catalog, const Census& census, std::vector<ProcessLayout>& processes);

// What is shown, from top to bottom.
struct DisplayOrder {
  std::vector<ProcessId> processes;
  std::vector<TrackId> tracks;
};
DisplayOrder display_order(const Catalog& catalog, const std::vector<ProcessLayout>& processes,
                           const std::vector<TrackLayout>& tracks);

}  // namespace cli
