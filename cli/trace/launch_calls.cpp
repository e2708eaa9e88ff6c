#include "cli/trace/launch_calls.h"

#include "cli/trace/event_times.h"

namespace cli {

namespace {

std::uint64_t calls_of(const Process& process) {
  return process.counts[static_cast<std::size_t>(Kind::runtime)] +
         process.counts[static_cast<std::size_t>(Kind::driver)];
}

}  // namespace

bool records_calls(const Process& process) { return calls_of(process) > 0; }

LaunchCalls::LaunchCalls(const Catalog& catalog)
    : catalog_(catalog),
      most_(std::clamp((std::size_t{1} << 20) / std::max<std::size_t>(catalog.processes.size(), 1), kFewestCalls,
                       kMostCalls)) {
  for (const Process& process : catalog.processes) processes_.emplace_back(most_, calls_of(process));
}

LaunchCall launch_call(const Event& call) {
  return {call.track, call.name, call.start_ns, call.duration_ns < 0 ? call.start_ns : slice_end(call, kLatest_ns)};
}

std::optional<std::uint32_t> LaunchCalls::place_for(const Event& call) {
  const Track& track = catalog_.tracks[call.track];
  Newest<LaunchCall>& calls = processes_[track.process];
  const std::uint64_t key = launch_key(track, call.correlation);
  const auto known = calls.find(key);
  if (known != Newest<LaunchCall>::kNone) {
    const LaunchCall& outer = calls[known];
    if (outer.track == call.track && call.start_ns <= outer.end_ns) return std::nullopt;
  }
  return calls.add(key, launch_call(call), known);
}

const LaunchCall* LaunchCalls::of(TrackId track, std::uint64_t correlation) const {
  const auto place = place_of(track, correlation);
  return place ? &at(catalog_.tracks[track].process, *place) : nullptr;
}

std::optional<std::uint32_t> LaunchCalls::place_of(TrackId id, std::uint64_t correlation) const {
  if (correlation == 0) return std::nullopt;
  const Track& track = catalog_.tracks[id];
  const auto place = processes_[track.process].find(launch_key(track, correlation));
  return place == Newest<LaunchCall>::kNone ? std::nullopt : std::optional(place);
}

}  // namespace cli
