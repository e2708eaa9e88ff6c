#include "cli/model/launch_calls.h"

#include <utility>

#include "cli/model/slice.h"

namespace cli {

std::optional<std::uint32_t> LaunchCalls::add(ProcessId process, const Event& call) {
  Calls& calls = processes_[process];
  const auto [place, is_new] = calls.places.try_emplace(call.correlation, static_cast<std::uint32_t>(calls.next));
  if (!is_new) {
    const LaunchCall& outer = calls.ring[place->second];
    if (outer.track == call.track && call.start_ns <= outer.end_ns) return std::nullopt;
    place->second = static_cast<std::uint32_t>(calls.next);
  }
  const LaunchCall entry{call.track, call.name, call.start_ns, call.duration_ns < 0 ? call.start_ns : slice_end(call, kLatest_ns)};
  if (calls.ring.size() < most_) {
    calls.ring.push_back(entry);
    calls.correlations.push_back(call.correlation);
  } else {
    const auto old = calls.places.find(calls.correlations[calls.next]);
    if (old != calls.places.end() && old->second == calls.next && calls.correlations[calls.next] != call.correlation) calls.places.erase(old);
    calls.ring[calls.next] = entry;
    calls.correlations[calls.next] = call.correlation;
  }
  return static_cast<std::uint32_t>(std::exchange(calls.next, (calls.next + 1) % most_));
}

const LaunchCall* LaunchCalls::of(ProcessId process, std::uint64_t correlation) const {
  const auto place = place_of(process, correlation);
  return place ? &processes_[process].ring[*place] : nullptr;
}

std::optional<std::uint32_t> LaunchCalls::place_of(ProcessId process, std::uint64_t correlation) const {
  if (correlation == 0) return std::nullopt;
  const Calls& calls = processes_[process];
  const auto place = calls.places.find(correlation);
  return place == calls.places.end() ? std::nullopt : std::optional(place->second);
}

}  // namespace cli
