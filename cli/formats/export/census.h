// What a first pass learns of a trace so that the second can name and order its tracks: who is there at all, on which
// streams NCCL runs, when it begins and ends.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/names.h"
#include "cli/trace/event_times.h"

namespace cli {

class Census {
 public:
  explicit Census(const Catalog& catalog)
      : processes(catalog.processes.size()), tracks(catalog.tracks.size()), catalog_(&catalog), names_(catalog.strings) {}

  // Flow events are passed over: they are written on slices, or not at all.
  void count(const Event& event);

  struct OfProcess {
    bool seen = false;
    std::int64_t first_ns = 0;
  };
  struct OfTrack {
    bool seen = false;
    std::uint64_t kernels = 0;
    std::uint64_t nccl_kernels = 0;
  };
  std::vector<OfProcess> processes;  // by ProcessId
  std::vector<OfTrack> tracks;       // by TrackId

  bool empty() const { return first_ns_ > last_ns_; }
  std::int64_t first_ns() const { return empty() ? 0 : first_ns_; }
  std::int64_t last_ns() const { return empty() ? 0 : last_ns_; }

 private:
  const Catalog* catalog_;
  NameClasses names_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace cli
