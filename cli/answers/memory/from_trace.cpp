#include "cli/answers/memory/from_trace.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "cli/timeline/gpu/memory_levels.h"
#include "cli/trace/event_times.h"

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;

}  // namespace

class TraceMemory::OfProcess {
 public:
  // `stack` is in catalog().
  void change(const Event& event, const Change& change, StackId stack) {
    compare_with_driver(change);
    OfDevice& device = (change.is_of_driver ? of_driver_ : of_allocator_)[change.device];
    if (change.reserved_bytes) reserve(event, *change.reserved_bytes, device);
    Entry entry{.address = change.address, .bytes = change.bytes, .stream = change.stream, .stack = stack};
    const auto add_as = [&](Action action) {
      entry.action = action;
      add(entry, event, device);
    };
    // Memory that the program requests from the driver is reserved memory as well.
    if (change.type == Change::Type::failure) {
      entry.address = change.free_bytes ? static_cast<std::uint64_t>(*change.free_bytes) : snapshot::kUnknownBytes;
      add_as(Action::oom);
    } else if (change.type == Change::Type::allocation) {
      if (change.is_of_driver) add_as(Action::segment_alloc);
      add_as(Action::alloc);
      device.live[change.address] = {change.bytes, stack};
    } else {
      add_as(Action::free_completed);
      if (change.is_of_driver) add_as(Action::segment_free);
      device.live.erase(change.address);
    }
    if (change.allocated_bytes) device.allocated_bytes = *change.allocated_bytes;
  }

  Catalog& catalog() { return snapshot_.catalog; }

  // `knows_driver` is true if the trace contains all allocations and releases of the driver.
  snapshot::Snapshot finish(bool knows_driver) {
    for (const auto& [number, driver] : driver_) {
      if (knows_driver && driver.outside_peak_bytes >= 0)
        snapshot_.outside_peak_bytes[number] = static_cast<std::uint64_t>(driver.outside_peak_bytes);
    }
    // The allocator divides memory of the driver, so its blocks are a part of the driver's.
    const bool is_of_driver = of_allocator_.empty();
    for (auto& [number, device] : is_of_driver ? of_driver_ : of_allocator_) {
      const auto index = static_cast<std::size_t>(number);
      if (snapshot_.histories.size() <= index) snapshot_.histories.resize(index + 1);
      std::uint64_t in_use = 0;
      snapshot::Segment segment;
      segment.device = number;
      segment.first_block = snapshot_.blocks.size();
      for (const auto& [address, block] : device.live) {
        snapshot_.blocks.push_back({address, block.bytes, block.bytes, snapshot::BlockState::active, block.stack});
        in_use += block.bytes;
      }
      segment.bytes =
          is_of_driver ? in_use : static_cast<std::uint64_t>(std::max<std::int64_t>(device.reserved_bytes, 0));
      const std::int64_t before = device.allocated_bytes - static_cast<std::int64_t>(in_use);
      if (before > 0) {
        const auto bytes = static_cast<std::uint64_t>(before);
        snapshot_.blocks.push_back({0, bytes, bytes, snapshot::BlockState::active, {}});
      }
      segment.blocks = snapshot_.blocks.size() - segment.first_block;
      snapshot_.segments.push_back(segment);
      snapshot_.histories[index] = std::move(device.history);
    }
    snapshot_.has_layout = false;
    return std::move(snapshot_);
  }

  std::map<std::int64_t, std::vector<std::int64_t>> take_allocator_times_ns() {
    std::map<std::int64_t, std::vector<std::int64_t>> times;
    for (auto& [number, device] : of_allocator_) times.emplace(number, std::move(device.times_ns));
    return times;
  }

 private:
  struct Live {
    std::uint64_t bytes = 0;
    StackId stack{};
  };
  struct OfDevice {
    snapshot::History history;
    std::vector<std::int64_t> times_ns;  // of the entries in the history
    std::map<std::uint64_t, Live> live;  // by address
    std::int64_t allocated_bytes = 0;    // latest total of the allocator; 0 if unknown
    std::int64_t reserved_bytes = 0;
  };

  // Compares the totals when the allocator reports, because it has called the driver before that.
  void compare_with_driver(const Change& change) {
    if (change.is_of_driver) {
      const bool is_release = change.type == Change::Type::release;
      Driver& driver = driver_[change.device];
      driver.bytes += is_release ? -static_cast<std::int64_t>(change.bytes) : static_cast<std::int64_t>(change.bytes);
      return;
    }
    const auto driver = driver_.find(change.device);
    if (driver == driver_.end() || !change.reserved_bytes) return;
    const std::int64_t outside = driver->second.bytes - *change.reserved_bytes;
    driver->second.is_complete &= outside >= 0;
    driver->second.outside_peak_bytes =
        driver->second.is_complete ? std::max(driver->second.outside_peak_bytes, outside) : -1;
  }

  static void add(Entry entry, const Event& event, OfDevice& device) {
    entry.time_us = event.start_ns / 1000;
    device.history.add(entry);
    device.times_ns.push_back(sane_ns(event.start_ns));
  }

  static void reserve(const Event& event, std::int64_t total, OfDevice& device) {
    const std::int64_t change = device.reserved_bytes == 0 ? 0 : total - device.reserved_bytes;
    device.reserved_bytes = total;
    if (change == 0) return;
    add({.action = change > 0 ? Action::segment_alloc : Action::segment_free,
         .bytes = static_cast<std::uint64_t>(std::abs(change))},
        event, device);
  }

  // Memory of the driver on a device. If the allocator has reserved more, the recording lacks a part of it.
  struct Driver {
    std::int64_t bytes = 0;
    std::int64_t outside_peak_bytes = -1;  // not reserved by the allocator; -1 if unknown
    bool is_complete = true;
  };

  snapshot::Snapshot snapshot_;
  std::map<std::int64_t, Driver> driver_;                      // by device
  std::map<std::int64_t, OfDevice> of_allocator_, of_driver_;  // by device
};

TraceMemory::TraceMemory(const Catalog& catalog) : catalog_(catalog), stacks_(catalog) {
  for (std::size_t i = 0; i < catalog.processes.size(); ++i) processes_.push_back(std::make_unique<OfProcess>());
}

TraceMemory::~TraceMemory() = default;

KindSet TraceMemory::kinds() { return kinds_of({Kind::memory, Kind::instant}) | OpenStacks::kinds(); }

void TraceMemory::event(const Event& event, const Facts& facts) {
  stacks_.event(event);
  const auto change = change_of(event, facts);
  if (!change) return;
  OfProcess& process = *processes_[catalog_.tracks[event.track].process];
  process.change(event, *change, stacks_.stack_of(event, *change, process.catalog()));
}

std::vector<snapshot::Snapshot> TraceMemory::finish() {
  std::vector<snapshot::Snapshot> snapshots;
  for (std::size_t i = 0; i < processes_.size(); ++i)
    snapshots.push_back(processes_[i]->finish(knows_all_allocations(catalog_.processes[i])));
  return snapshots;
}

std::map<std::int64_t, std::vector<std::int64_t>> TraceMemory::take_allocator_times_ns(ProcessId process) {
  return processes_[process]->take_allocator_times_ns();
}

}  // namespace cli::memory
