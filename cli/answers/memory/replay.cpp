#include "cli/answers/memory/replay.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;
using snapshot::History;
using snapshot::Snapshot;

const History& history_of(const Snapshot& snapshot, std::int64_t device) {
  static const History none;
  const auto index = static_cast<std::size_t>(device);
  return device >= 0 && index < snapshot.histories.size() ? snapshot.histories[index] : none;
}

// Calls visit(segment, block) for the blocks of a device.
template <typename Visit>
void each_block(const Snapshot& snapshot, std::int64_t device, Visit&& visit) {
  for (const snapshot::Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    for (std::size_t i = 0; i < segment.blocks; ++i) visit(segment, snapshot.blocks[segment.first_block + i]);
  }
}

// The blocks in use. Starts with the blocks in use at the end of the history and goes back in time.
class Live {
 public:
  Live(const Snapshot& snapshot, std::int64_t device) {
    each_block(snapshot, device, [&](const snapshot::Segment&, const snapshot::Block& block) {
      if (!in_use(block)) return;
      by_address_[block.address] = {.address = block.address, .bytes = block.requested_bytes, .stack = block.stack};
      bytes_ += block.requested_bytes;
    });
  }

  // Undoes an entry. Returns false if it does not agree with later entries.
  bool undo(std::size_t index, const Entry& entry) {
    if (entry.action == Action::alloc) return undo_allocation(entry);
    return entry.action != Action::free_completed || undo_release(index, entry);
  }

  std::uint64_t bytes() const { return bytes_; }
  std::size_t size() const { return by_address_.size(); }
  std::unordered_map<std::uint64_t, LiveBlock>& by_address() { return by_address_; }

 private:
  // Undoes an allocation. Returns false if its block is not in use after it, or has another size.
  bool undo_allocation(const Entry& entry) {
    const auto found = by_address_.find(entry.address);
    if (found == by_address_.end()) return false;
    const bool same = found->second.bytes == entry.bytes;
    bytes_ -= found->second.bytes;
    by_address_.erase(found);
    return same;
  }
  // Undoes a release. Returns false if its block is still in use after it.
  bool undo_release(std::size_t index, const Entry& entry) {
    const bool is_new =
        by_address_
            .try_emplace(entry.address, LiveBlock{.address = entry.address, .bytes = entry.bytes, .released = index})
            .second;
    if (is_new) bytes_ += entry.bytes;
    return is_new;
  }

  std::unordered_map<std::uint64_t, LiveBlock> by_address_;
  std::uint64_t bytes_ = 0;
};

// Sums are computed modulo 2^64, so that damaged sizes cannot overflow.
std::uint64_t reserved_change(const Entry& entry) {
  switch (entry.action) {
    case Action::segment_alloc:
    case Action::segment_map:
      return entry.bytes;
    case Action::segment_free:
    case Action::segment_unmap:
      return 0 - entry.bytes;
    default:
      return 0;
  }
}

std::uint64_t not_negative(std::uint64_t sum) { return static_cast<std::int64_t>(sum) < 0 ? 0 : sum; }

void count(const Entry& entry, DeviceMemory& memory) {
  if (entry.time_us != snapshot::kNoTime) {
    memory.first_time_us = entry.time_us;  // entries come from the newest to the oldest
    if (memory.last_time_us == snapshot::kNoTime) memory.last_time_us = entry.time_us;
  }
  memory.segment_allocations += entry.action == Action::segment_alloc;
  memory.segment_frees += entry.action == Action::segment_free;
  if (entry.action == Action::alloc) ++memory.allocations, memory.allocated_bytes += entry.bytes;
  if (entry.action == Action::free_completed) ++memory.frees, memory.freed_bytes += entry.bytes;
}

DeviceMemory replay_device(const Snapshot& snapshot, std::int64_t device) {
  const History& history = history_of(snapshot, device);
  DeviceMemory memory;
  memory.device = device;
  memory.states = history.size();
  Live live(snapshot, device);
  std::uint64_t reserved = 0;
  for (const snapshot::Segment& segment : snapshot.segments) {
    if (segment.device == device) reserved += segment.bytes;
  }
  memory.end_bytes = live.bytes();
  memory.reserved_end_bytes = reserved;
  const auto reached = [&](std::size_t state, std::int64_t time_us) {
    if (live.bytes() >= memory.peak_bytes) {
      memory.peak_bytes = live.bytes();
      memory.peak_state = state;
      memory.peak_time_us = time_us;
    }
    memory.reserved_peak_bytes = std::max(memory.reserved_peak_bytes, not_negative(reserved));
  };
  history.backward([&](std::size_t index, const Entry& entry) {
    reached(index + 1, entry.time_us);
    count(entry, memory);
    if (entry.action == Action::oom) {
      const std::uint64_t now = not_negative(reserved);
      memory.failures.push_back({index, entry.time_us, entry.bytes, entry.address, live.bytes(), now, entry.stack,
                                 memory.allocations + memory.frees == 0});
    }
    reserved -= reserved_change(entry);
    memory.contradictions += !live.undo(index, entry);
    return true;
  });
  reached(0, memory.first_time_us);
  std::reverse(memory.failures.begin(), memory.failures.end());
  memory.peak_blocks = blocks_in_use(snapshot, device, memory.peak_state);
  memory.start_bytes = live.bytes();
  memory.reserved_start_bytes = not_negative(reserved);
  memory.difference_bytes =
      static_cast<std::int64_t>(memory.start_bytes + memory.allocated_bytes - memory.freed_bytes - memory.end_bytes);
  return memory;
}

}  // namespace

std::vector<DeviceMemory> replay(const Snapshot& snapshot) {
  std::set<std::int64_t> devices;
  for (const snapshot::Segment& segment : snapshot.segments) devices.insert(segment.device);
  for (std::size_t i = 0; i < snapshot.histories.size(); ++i) {
    if (snapshot.histories[i].size() != 0) devices.insert(static_cast<std::int64_t>(i));
  }
  std::vector<DeviceMemory> all;
  for (const std::int64_t device : devices) all.push_back(replay_device(snapshot, device));
  return all;
}

void walk_states_back(const Snapshot& snapshot, std::int64_t device,
                      const std::function<void(std::size_t, std::uint64_t, std::int64_t)>& visit) {
  Live live(snapshot, device);
  std::int64_t first_us = snapshot::kNoTime;
  history_of(snapshot, device).backward([&](std::size_t index, const Entry& entry) {
    first_us = entry.time_us;
    visit(index + 1, live.bytes(), entry.time_us);
    live.undo(index, entry);
    return true;
  });
  visit(0, live.bytes(), first_us);
}

std::vector<LiveBlock> blocks_in_use(const Snapshot& snapshot, std::int64_t device, std::size_t state) {
  Live live(snapshot, device);
  // Blocks of the state that were allocated by an entry which the walk has not reached yet
  std::unordered_map<std::uint64_t, LiveBlock> unresolved;
  std::vector<LiveBlock> found;
  const auto start = [&] { unresolved = std::move(live.by_address()); };
  bool started = false;
  history_of(snapshot, device).backward([&](std::size_t index, const Entry& entry) {
    if (!started && index + 1 == state) start(), started = true;
    if (!started) {
      live.undo(index, entry);
      return true;
    }
    if (entry.action != Action::alloc) return !unresolved.empty();
    const auto block = unresolved.find(entry.address);
    if (block == unresolved.end()) return true;
    block->second.entry = index;
    block->second.time_us = entry.time_us;
    if (entry.stack != 0) block->second.stack = entry.stack;
    found.push_back(block->second);
    unresolved.erase(block);
    return !unresolved.empty();
  });
  if (!started) start();
  for (const auto& [address, block] : unresolved) found.push_back(block);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return found;
}

Fragmentation fragmentation(const Snapshot& snapshot, std::int64_t device) {
  Fragmentation found;
  for (const snapshot::Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    std::uint64_t used = 0, free = 0;
    for (std::size_t i = 0; i < segment.blocks; ++i) {
      const snapshot::Block& block = snapshot.blocks[segment.first_block + i];
      if (in_use(block)) {
        used += block.bytes;
        found.rounding_bytes += block.bytes - std::min(block.bytes, block.requested_bytes);
      } else {
        free += block.bytes;
        found.largest_free_bytes = std::max(found.largest_free_bytes, block.bytes);
      }
    }
    (used == 0 ? found.free_segment_bytes : found.split_bytes) += free;
  }
  return found;
}

}  // namespace cli::memory
