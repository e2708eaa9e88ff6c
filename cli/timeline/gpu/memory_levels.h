// Device memory over time, from events that tell of it.
//   Kineto ("[memory]" instants): what PyTorch's allocator counts, "Total Allocated" and "Total Reserved", per device; the
//     host's is of device -1.
//   Our recordings (Kind::memory): bytes allocated less bytes released, of the device's own memory (Device, Array,
//     Device Static; pools by what is taken from them). Only where nothing that could be of this kind was overwritten
//     or lost; else nothing is told, and misses_allocations() is true.
#pragma once
#include <cstdint>
#include <map>

#include "cli/trace/catalog.h"

namespace cli {

enum class MemoryLevel : std::uint8_t { allocated, reserved };

class MemoryLevels {
 public:
  // What the levels are told to, by time.
  class Out {
   public:
    virtual void level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) = 0;

   protected:
    ~Out() = default;
  };

  // The catalogue is complete, and outlives it.
  MemoryLevels(const Catalog& catalog, ProcessId process);

  // Any event of this process, by start; those that tell nothing of memory are passed over.
  void event(const Event& event, const Facts& facts, Out& out);

  // Some were seen, but not all are known.
  bool misses_allocations() const { return misses_allocations_; }

 private:
  void allocator_says(std::int64_t ns, const AllocatorFacts& facts, Out& out);
  void allocation(const Event& event, const MemoryFacts& facts, Out& out);

  const Catalog* catalog_;
  std::map<std::int64_t, std::int64_t> live_bytes_;  // of recordings, by device
  bool all_known_;                                   // of allocations
  bool misses_allocations_ = false;
};

}  // namespace cli
