#include "cli/answers/tables/device_gaps.h"

#include <algorithm>

#include "cli/trace/event_times.h"

namespace cli {

namespace {

constexpr std::uint8_t kPageableMemory = 1;  // CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE

bool is_pageable(const Facts& facts) {
  const auto* copy = facts.get<CopyFacts>();
  return copy != nullptr && (copy->from_memory == kPageableMemory || copy->to_memory == kPageableMemory);
}

}  // namespace

std::optional<HostWait> HostWaits::of(const Event& call) {
  if (!is_api_call(call.kind) || !is_slice(call) || call.duration_ns < 0 || !names_[call.name].synchronizes)
    return std::nullopt;
  return outermost({call.track, call.name, call.start_ns, slice_end(call, kLatest_ns), false, false});
}

std::optional<HostWait> HostWaits::of(const GpuWork& work) {
  if (work.call == nullptr || work.call->end_ns < work.end_ns || !blocks(work)) return std::nullopt;
  return outermost({work.call->track, work.call->name, work.call->start_ns, work.call->end_ns, true,
                    names_[work.name].copy == DerivedTrack::copy_h2d});
}

bool HostWaits::blocks(const GpuWork& work) {
  return work.kind == Kind::memcpy && (!names_[work.call->name].is_async || is_pageable(*work.facts));
}

std::optional<HostWait> HostWaits::outermost(const HostWait& wait) {
  const auto [last, is_first] = last_.try_emplace(wait.track, wait);
  if (is_first) return wait;
  const bool within = last->second.start_ns <= wait.start_ns && wait.end_ns <= last->second.end_ns;
  if (within) return std::nullopt;
  last->second = wait;
  return wait;
}

IdleTimes DeviceGap::times(std::int64_t from, std::int64_t to) const {
  IdleTimes times{};
  for (std::size_t i = 0; i < part_count; ++i) {
    times[static_cast<std::size_t>(parts[i].cause)] +=
        std::max<std::int64_t>(0, std::min(to, parts[i].to_ns) - std::max(from, parts[i].from_ns));
  }
  return times;
}

std::int64_t DeviceGap::collecting_ns(std::int64_t from, std::int64_t to) const {
  if (collections == nullptr) return 0;
  std::int64_t sum_ns = 0;
  for (std::size_t i = 0; i < part_count; ++i) {
    const Part& part = parts[i];
    if (part.cause != IdleCause::after_sync && part.cause != IdleCause::host_late) continue;
    sum_ns += collections->within_ns(std::max(from, part.from_ns), std::min(to, part.to_ns));
  }
  return sum_ns;
}

std::optional<HostWait> DeviceGaps::event(const Event& call, ProcessId process) {
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

std::optional<DeviceGap> DeviceGaps::work(const GpuWork& work, std::optional<HostWait>& wait) {
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

std::vector<DeviceGap> DeviceGaps::rest(ProcessId process) {
  std::vector<DeviceGap> gaps;
  for (auto at = first_of(process); at != devices_.end() && at->first.first == process; ++at) {
    explain(gaps.emplace_back(gap_of(process, at->first.second, at->second, kLatest_ns, nullptr)), nullptr);
  }
  return gaps;
}

void DeviceGaps::forget(ProcessId process) {
  devices_.erase(first_of(process), devices_.lower_bound({process + 1, std::numeric_limits<std::int64_t>::min()}));
  std::erase_if(launches_, [&](const auto& each) { return catalog_.tracks[each.first].process == process; });
  collections_.erase(process);
  waits_.forget(process);
}

DeviceGap DeviceGaps::gap_of(ProcessId process, std::int64_t number, const Device& device, std::int64_t to_ns,
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

void DeviceGaps::add(ProcessId process, const HostWait& wait, std::int64_t now_ns) {
  for (auto at = first_of(process); at != devices_.end() && at->first.first == process; ++at) {
    add(at->second, wait, now_ns);
  }
}

// Drops the waits that have ended: they cannot contain a moment at which the device goes idle later.
void DeviceGaps::add(Device& device, const HostWait& wait, std::int64_t now_ns) {
  std::erase_if(device.waits, [&](const HostWait& each) {
    return each.end_ns <= device.busy_end_ns || (each.start_ns > device.busy_end_ns && each.end_ns <= now_ns);
  });
  if (wait.end_ns > device.busy_end_ns) device.waits.push_back(wait);
}

// Returns true if the thread had launched something else just before.
bool DeviceGaps::launches_on(const LaunchCall& call) const {
  const auto found = launches_.find(call.track);
  if (found == launches_.end()) return false;
  const std::deque<Launch>& launches = found->second;
  const auto at = std::lower_bound(launches.begin(), launches.end(), call.start_ns,
                                   [](const Launch& launch, std::int64_t ns) { return launch.start_ns < ns; });
  return at != launches.begin() && call.start_ns - std::prev(at)->end_ns <= kLaunching_ns;
}

void DeviceGaps::explain(DeviceGap& gap, const Device* device) {
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

}  // namespace cli
