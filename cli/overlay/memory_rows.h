// Device memory over time, from events that tell of it.
//   Kineto ("[memory]" instants): what PyTorch's allocator counts, "Total Allocated" and "Total Reserved", per device;
//     the host's are on the rows of the whole process.
//   Our recordings (Kind::memory): bytes allocated less bytes released, of the device's own memory (Device, Array,
//     Device Static; pools by what is taken from them). Only where nothing that could be of this kind was overwritten
//     or lost; else there is no row, and a note says so.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/overlay/counter_row.h"

namespace cli {

class MemoryRows {
 public:
  MemoryRows(const Catalog& catalog, ProcessId process, DerivedSink& sink);

  // Any event of this process; those that tell nothing of memory are passed over.
  void event(const Event& event, const Facts& facts);
  void cut(std::int64_t at_ns);
  void finish();
  void add_notes(std::vector<std::string>& notes) const;

 private:
  struct Rows {
    CounterRow allocated, reserved;
    std::int64_t live_bytes = 0;  // recordings
  };
  Rows& rows(std::int64_t device);
  void allocator_says(std::int64_t ns, const AllocatorFacts& facts);
  void allocation(const Event& event, const MemoryFacts& facts);

  const Catalog* catalog_;
  ProcessId process_;
  DerivedSink* sink_;
  std::map<std::int64_t, Rows> devices_;
  bool all_known_;        // of allocations
  bool unknown_ = false;  // some were seen, but not all are known
};

}  // namespace cli
