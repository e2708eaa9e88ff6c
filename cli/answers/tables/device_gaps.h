// Idle gaps of devices and their causes. A gap lasts from g, the end of all earlier work, to w, the start of the next
// work, which was launched by a thread's call from c to e. It has up to five contiguous parts:
//
//   g to c   the call had not begun.
//            sync or copy,     if the host was in a wait (a synchronization or the call of a copy) when the device went
//            after_sync        idle (start <= g < end) and that ended no later than c: up to its end, and after it. The
//                              wait that ended last counts. Without a wait of d ns the host would have launched at most d ns
//                              earlier, so a wait explains the gap up to g + d (waited_to_ns()). The host is the cause
//                              of the rest:
//            launch            the thread's previous launch had ended at most kLaunching_ns before c: it was launching
//                              continuously.
//            host_late         otherwise: the host did something else.
//   c to e   copy              the host was in the call of a copy that blocks or uses pageable memory;
//            launch            or in another call.
//   e to w   queued            the work was launched and had not begun, for at most kLaunching_ns;
//            unexplained       beyond that: no record shows what the work waited for.
//
// A gap is entirely unexplained if the call is unknown or no work follows. For after_sync and host_late, the time that
// the host spent in Python's garbage collector, on any thread, is reported too.
#pragma once
#include <deque>
#include <map>
#include <unordered_map>

#include "cli/answers/tables/analysis.h"
#include "cli/trace/event_times.h"
#include "cli/trace/garbage_collections.h"
#include "cli/trace/names.h"

namespace cli {

// A time in which the host waited for its GPU: in a call whose name contains a synchronization, or in a copy that
// returned only when it was done. A copy counts if its call ended no earlier than the copy itself, and either the call
// blocks (cudaMemcpy) or the host memory is pageable, for which no copy is asynchronous.
struct HostWait {
  TrackId track = 0;  // of the calling thread
  StringId name = 0;  // of the call
  std::int64_t start_ns = 0, end_ns = 0;
  bool for_copy = false;   // the call is that of a copy
  bool to_device = false;  // the copy goes from the host to the device
};

inline constexpr std::uint8_t kPageableMemory = 1;  // CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE

class HostWaits {
 public:
  explicit HostWaits(const Catalog& catalog) : catalog_(catalog), names_(catalog.strings) {}

  // Empty if the call is not a wait, has no end, or is nested in another wait of its thread (a driver call in a runtime
  // call).
  std::optional<HostWait> of(const Event& call) {
    if (!is_api_call(call.kind) || !is_slice(call) || call.duration_ns < 0 || !names_[call.name].synchronizes)
      return std::nullopt;
    return outermost({call.track, call.name, call.start_ns, slice_end(call, kLatest_ns), false, false});
  }
  // The same for copies. Call it once per call.
  std::optional<HostWait> of(const GpuWork& work) {
    if (work.call == nullptr || work.call->end_ns < work.end_ns || !blocks(work)) return std::nullopt;
    return outermost({work.call->track, work.call->name, work.call->start_ns, work.call->end_ns, true,
                      names_[work.name].copy == DerivedTrack::copy_h2d});
  }
  // Returns true if this work was launched by the call of a copy that blocks. The call must be known.
  bool blocks(const GpuWork& work) {
    return work.kind == Kind::memcpy && (!names_[work.call->name].is_async || is_pageable(*work.facts));
  }
  // Call it after the process's last event.
  void forget(ProcessId process) {
    std::erase_if(last_, [&](const auto& each) { return catalog_.tracks[each.first].process == process; });
  }

 private:
  static bool is_pageable(const Facts& facts) {
    const auto* copy = facts.get<CopyFacts>();
    return copy != nullptr && (copy->from_memory == kPageableMemory || copy->to_memory == kPageableMemory);
  }
  std::optional<HostWait> outermost(const HostWait& wait) {
    const auto [last, is_first] = last_.try_emplace(wait.track, wait);
    if (is_first) return wait;
    const bool within = last->second.start_ns <= wait.start_ns && wait.end_ns <= last->second.end_ns;
    if (within) return std::nullopt;
    last->second = wait;
    return wait;
  }

  const Catalog& catalog_;
  NameClasses names_;
  std::unordered_map<TrackId, HostWait> last_;  // the last wait of each thread
};

enum class IdleCause : std::uint8_t { sync, copy, after_sync, host_late, launch, queued, unexplained, count_ };
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::count_);
inline constexpr std::array<std::string_view, kIdleCauses> kIdleCauseNames{
    "sync", "copy", "after_sync", "host_late", "launch", "queued", "unexplained"};

using IdleTimes = std::array<std::int64_t, kIdleCauses>;  // ns, by cause

struct DeviceGap {
  struct Part {
    IdleCause cause;
    std::int64_t from_ns, to_ns;
  };

  ProcessId process = 0;
  std::int64_t device = -1;
  std::int64_t from_ns = 0, to_ns = 0;  // kEarliest_ns if no work came before; kLatest_ns if none follows
  StringId before = 0;                  // name of the work that ended at from_ns
  const GpuWork* next = nullptr;        // valid during work(); null if none follows
  std::optional<HostWait> wait;         // the wait of the host when the device went idle
  std::array<Part, 5> parts{};
  std::size_t part_count = 0;
  const GarbageCollections* collections = nullptr;  // of the process, valid during gap(); null if there are none

  // Returns the end of the part of the gap that the wait explains; from_ns if there is no wait.
  std::int64_t waited_to_ns() const {
    return wait ? std::min(to_ns, from_ns + (wait->end_ns - wait->start_ns)) : from_ns;
  }
  // Returns the idle times between two moments, by cause.
  IdleTimes times(std::int64_t from, std::int64_t to) const {
    IdleTimes times{};
    for (std::size_t i = 0; i < part_count; ++i) {
      times[static_cast<std::size_t>(parts[i].cause)] +=
          std::max<std::int64_t>(0, std::min(to, parts[i].to_ns) - std::max(from, parts[i].from_ns));
    }
    return times;
  }
  // Returns how much of the host's delay between two moments was garbage collection.
  std::int64_t collecting_ns(std::int64_t from, std::int64_t to) const {
    if (collections == nullptr) return 0;
    std::int64_t sum_ns = 0;
    for (std::size_t i = 0; i < part_count; ++i) {
      const Part& part = parts[i];
      if (part.cause != IdleCause::after_sync && part.cause != IdleCause::host_late) continue;
      sum_ns += collections->within_ns(std::max(from, part.from_ns), std::min(to, part.to_ns));
    }
    return sum_ns;
  }
};

class DeviceGaps {
 public:
  static constexpr std::int64_t kLaunching_ns = 30'000;
  // Maximum number of launches kept per thread: those made while a device was idle that did not begin its first work.
  static constexpr std::size_t kMostLaunches = 4096;

  explicit DeviceGaps(const Catalog& catalog) : catalog_(catalog), waits_(catalog), names_(catalog.strings) {}

  // Receives CUDA calls and garbage collections of all times, as an Analysis does. Returns the wait if the call is one.
  std::optional<HostWait> event(const Event& call, ProcessId process) {
    if (call.kind == Kind::garbage_collection) collections_[process].add(call);
    if (!is_api_call(call.kind) || !is_slice(call)) return std::nullopt;
    if (names_[call.name].launches) {
      std::deque<Launch>& launches = launches_[call.track];
      // A driver call within a runtime call
      const bool within = !launches.empty() && call.start_ns < launches.back().end_ns;
      if (!within)
        launches.push_back({call.start_ns, call.duration_ns < 0 ? call.start_ns : slice_end(call, kLatest_ns)});
      if (launches.size() > kMostLaunches) launches.pop_front();
    }
    const auto wait = waits_.of(call);
    if (wait) add(process, *wait, call.start_ns);
    return wait;
  }
  // Returns the gap before the work if the device was idle. Also returns the time before a device's first work; rest()
  // returns the time after its last. `wait` is set if the copy is a wait.
  std::optional<DeviceGap> work(const GpuWork& work, std::optional<HostWait>& wait) {
    const auto [entry, is_first] = devices_.try_emplace({work.process, work.device}, Device{kEarliest_ns, 0, {}});
    Device& device = entry->second;
    std::optional<DeviceGap> gap;
    if (work.start_ns > device.busy_end_ns) {
      gap = gap_of(work.process, work.device, device, work.start_ns, &work);
      explain(*gap, &device);
    }
    if (is_first || work.end_ns >= device.busy_end_ns) {
      device.busy_end_ns = work.end_ns;
      device.last_name = work.name;
      std::erase_if(device.waits, [&](const HostWait& each) { return each.end_ns <= work.end_ns; });
    }
    wait = waits_.of(work);
    if (wait) add(work.process, *wait, work.start_ns);
    return gap;
  }
  std::vector<DeviceGap> rest(ProcessId process) {
    std::vector<DeviceGap> gaps;
    for (auto at = first_of(process); at != devices_.end() && at->first.first == process; ++at) {
      explain(gaps.emplace_back(gap_of(process, at->first.second, at->second, kLatest_ns, nullptr)), nullptr);
    }
    return gaps;
  }
  // Frees the process's data. Call it after the process's last event.
  void forget(ProcessId process) {
    devices_.erase(first_of(process), devices_.lower_bound({process + 1, std::numeric_limits<std::int64_t>::min()}));
    std::erase_if(launches_, [&](const auto& each) { return catalog_.tracks[each.first].process == process; });
    collections_.erase(process);
    waits_.forget(process);
  }
  static KindSet kinds() { return kinds_of({Kind::runtime, Kind::driver, Kind::garbage_collection}); }

 private:
  struct Device {
    std::int64_t busy_end_ns;
    StringId last_name;           // name of the work that ends then
    std::vector<HostWait> waits;  // waits that may last until the device goes idle
  };
  using Devices = std::map<std::pair<ProcessId, std::int64_t>, Device>;

  Devices::iterator first_of(ProcessId process) {
    return devices_.lower_bound({process, std::numeric_limits<std::int64_t>::min()});
  }
  // Drops the waits that have ended: they cannot contain a moment at which the device goes idle later.
  void add(ProcessId process, const HostWait& wait, std::int64_t now_ns) {
    for (auto at = first_of(process); at != devices_.end() && at->first.first == process; ++at) {
      Device& device = at->second;
      std::erase_if(device.waits, [&](const HostWait& each) {
        return each.end_ns <= device.busy_end_ns || (each.start_ns > device.busy_end_ns && each.end_ns <= now_ns);
      });
      if (wait.end_ns > device.busy_end_ns) device.waits.push_back(wait);
    }
  }
  void explain(DeviceGap& gap, const Device* device) {
    const auto part = [&](IdleCause cause, std::int64_t from_ns, std::int64_t to_ns) {
      if (from_ns < to_ns) gap.parts[gap.part_count++] = {cause, from_ns, to_ns};
    };
    if (gap.next == nullptr || gap.next->call == nullptr) return part(IdleCause::unexplained, gap.from_ns, gap.to_ns);
    const LaunchCall& call = *gap.next->call;
    const std::int64_t called_ns = std::clamp(call.start_ns, gap.from_ns, gap.to_ns);
    const std::int64_t returned_ns = std::clamp(call.end_ns, called_ns, gap.to_ns);
    if (called_ns > gap.from_ns) {
      for (const HostWait& wait : device->waits) {
        const bool holds = wait.start_ns <= gap.from_ns && gap.from_ns < wait.end_ns && wait.end_ns <= called_ns;
        if (holds && (!gap.wait || wait.end_ns > gap.wait->end_ns)) gap.wait = wait;
      }
      const std::int64_t waited_to_ns = std::min(gap.waited_to_ns(), called_ns);
      if (gap.wait) {
        part(gap.wait->for_copy ? IdleCause::copy : IdleCause::sync, gap.from_ns, gap.wait->end_ns);
        part(IdleCause::after_sync, gap.wait->end_ns, waited_to_ns);
      }
      part(launches_on(call) ? IdleCause::launch : IdleCause::host_late, waited_to_ns, called_ns);
    }
    part(waits_.blocks(*gap.next) ? IdleCause::copy : IdleCause::launch, called_ns, returned_ns);
    part(gap.to_ns - returned_ns <= kLaunching_ns ? IdleCause::queued : IdleCause::unexplained, returned_ns, gap.to_ns);
  }
  DeviceGap gap_of(ProcessId process, std::int64_t number, const Device& device, std::int64_t to_ns,
                   const GpuWork* next) const {
    const auto collections = collections_.find(process);
    return {process,
            number,
            device.busy_end_ns,
            to_ns,
            device.last_name,
            next,
            std::nullopt,
            {},
            0,
            collections != collections_.end() ? &collections->second : nullptr};
  }
  // Returns true if the thread had launched something else just before.
  bool launches_on(const LaunchCall& call) const {
    const auto found = launches_.find(call.track);
    if (found == launches_.end()) return false;
    const std::deque<Launch>& launches = found->second;
    const auto at = std::ranges::lower_bound(launches, call.start_ns, {}, &Launch::start_ns);
    return at != launches.begin() && call.start_ns - std::prev(at)->end_ns <= kLaunching_ns;
  }

  struct Launch {
    std::int64_t start_ns, end_ns;
  };

  const Catalog& catalog_;
  HostWaits waits_;
  NameClasses names_;
  Devices devices_;
  std::unordered_map<TrackId, std::deque<Launch>> launches_;  // the newest launches of each thread, by start
  std::unordered_map<ProcessId, GarbageCollections> collections_;
};

}  // namespace cli
