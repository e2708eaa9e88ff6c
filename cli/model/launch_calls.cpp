#include "cli/model/launch_calls.h"

#include "cli/model/slice.h"

namespace cli {

std::optional<std::uint32_t> LaunchCalls::add(ProcessId process, const Event& call) {
  Newest<LaunchCall>& calls = processes_[process];
  if (const auto known = place_of(process, call.correlation)) {
    const LaunchCall& outer = calls[*known];
    if (outer.track == call.track && call.start_ns <= outer.end_ns) return std::nullopt;
  }
  return calls.add(call.correlation, {call.track, call.name, call.start_ns, call.duration_ns < 0 ? call.start_ns : slice_end(call, kLatest_ns)});
}

const LaunchCall* LaunchCalls::of(ProcessId process, std::uint64_t correlation) const {
  const auto place = place_of(process, correlation);
  return place ? &processes_[process][*place] : nullptr;
}

std::optional<std::uint32_t> LaunchCalls::place_of(ProcessId process, std::uint64_t correlation) const {
  if (correlation == 0) return std::nullopt;
  const auto place = processes_[process].find(correlation);
  return place == Newest<LaunchCall>::kNone ? std::nullopt : std::optional(place);
}

}  // namespace cli
