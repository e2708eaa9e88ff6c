// Device memory over time, from events that contain it.
// - Kineto ("[memory]" instants): the counters of PyTorch's allocator, "Total Allocated" and "Total Reserved", per
//   device; device -1 is the host.
// - Our recordings (Kind::memory): bytes that the driver allocated minus bytes that it released, of the device's own
//   memory (Device, Array, Device Static; for pools, the bytes taken from them). Reported only if no record that may be
//   of this kind was overwritten or lost; otherwise misses_allocations() is true.
#pragma once
#include <cstdint>
#include <map>

#include "cli/trace/catalog.h"

namespace cli {

// `allocated` and `reserved` are levels of PyTorch's allocator, which divides the memory that the driver allocates.
enum class MemoryLevel : std::uint8_t { allocated, reserved, driver };

// Returns false if a recording may lack allocations or releases of the driver.
bool knows_all_allocations(const Process& process);

class MemoryLevels {
 public:
  // Receives the levels, in order of time.
  class Out {
   public:
    virtual void level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) = 0;

   protected:
    ~Out() = default;
  };

  // The catalogue is complete, and has to outlive this.
  MemoryLevels(const Catalog& catalog, ProcessId process);

  // Handles any event of this process; calls have to be sorted by start. Events without memory data are ignored.
  void event(const Event& event, const Facts& facts, Out& out);

  // Returns true if allocations were seen, but not all are known.
  bool misses_allocations() const { return misses_allocations_; }

 private:
  void allocator_says(std::int64_t ns, const AllocatorFacts& facts, Out& out);
  void allocation(const Event& event, const MemoryFacts& facts, Out& out);

  const Catalog* catalog_;
  std::map<std::int64_t, std::int64_t> live_bytes_;  // of recordings, by device
  bool all_known_;                                   // all allocations are known
  bool misses_allocations_ = false;
};

}  // namespace cli
