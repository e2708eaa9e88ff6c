// Replays the history of a memory snapshot backwards. The replay begins with the blocks in use at the end and undoes
// one entry after the other, because a history seldom begins with an empty allocator. Counting from zero misses the
// memory that was allocated before the history, often half of the peak.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cli/formats/snapshot/snapshot.h"

namespace cli::memory {

// A block in use at some moment.
struct LiveBlock {
  static constexpr std::size_t kBefore = ~std::size_t{0}, kNever = kBefore;

  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  StackId stack{};                // of its allocation; 0 if unknown
  std::size_t entry = kBefore;    // index of its allocation in the history; kBefore if it was allocated before
  std::size_t released = kNever;  // index of its completed release; kNever if it is in use at the end
  std::int64_t time_us = snapshot::kNoTime;  // of its allocation
};

// An allocation that failed.
struct Failure {
  std::size_t state = 0;  // state in which the memory was requested
  std::int64_t time_us = snapshot::kNoTime;
  std::uint64_t asked_bytes = 0;
  // Free memory of the device, which other processes use too; snapshot::kUnknownBytes if unknown
  std::uint64_t device_free_bytes = 0;
  std::uint64_t in_use_bytes = 0, reserved_bytes = 0;
  StackId stack{};
  bool is_last = false;  // nothing was allocated or released after it, so fragmentation() applies to this moment
};

// The memory of one device. A state is the number of executed entries: 0 is the start of the history, History::size()
// its end. Bytes are requested bytes, without the allocator's rounding, as in torch's memory_viz. Reserved bytes are
// the sizes of segments.
struct DeviceMemory {
  std::int64_t device = 0;
  std::size_t states = 0;  // size of the history
  std::uint64_t start_bytes = 0, end_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::vector<LiveBlock> peak_blocks;             // in order of address
  std::size_t peak_state = 0;                     // the first state with the peak
  std::int64_t peak_time_us = snapshot::kNoTime;  // of the entry that led to it
  std::uint64_t reserved_start_bytes = 0, reserved_end_bytes = 0, reserved_peak_bytes = 0;
  std::int64_t first_time_us = snapshot::kNoTime, last_time_us = snapshot::kNoTime;
  std::uint64_t allocations = 0, allocated_bytes = 0;
  std::uint64_t frees = 0, freed_bytes = 0;  // of free_completed entries
  std::uint64_t segment_allocations = 0, segment_frees = 0;
  std::vector<Failure> failures;  // in order of time
  // start + allocated - freed - end. It is 0 unless entries are missing or damaged.
  std::int64_t difference_bytes = 0;
  std::uint64_t contradictions = 0;  // number of entries that do not agree with later entries
};

// Returns the devices that have segments or a history, in ascending order.
std::vector<DeviceMemory> replay(const snapshot::Snapshot& snapshot);

// Returns the blocks in use in a state, in order of address. The sum of their bytes is the memory in use in that state.
std::vector<LiveBlock> blocks_in_use(const snapshot::Snapshot& snapshot, std::int64_t device, std::size_t state);

// Calls visit(state, bytes in use, time in us of the entry that led to it) for each state, from the end of the history to
// its start. The start has the time of the first entry.
void walk_states_back(const snapshot::Snapshot& snapshot, std::int64_t device,
                      const std::function<void(std::size_t, std::uint64_t, std::int64_t)>& visit);

// The free memory of a device at the end of the history.
struct Fragmentation {
  std::uint64_t free_segment_bytes = 0;  // segments without a block in use, which empty_cache() can return
  std::uint64_t split_bytes = 0;         // free blocks in segments that are partly in use
  std::uint64_t largest_free_bytes = 0;  // the largest free block
  std::uint64_t rounding_bytes = 0;      // bytes of blocks in use beyond the requested bytes
};
Fragmentation fragmentation(const snapshot::Snapshot& snapshot, std::int64_t device);

}  // namespace cli::memory
