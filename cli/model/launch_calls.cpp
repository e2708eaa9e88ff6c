#include "cli/model/launch_calls.h"

#include <utility>

#include "cli/model/slice.h"

namespace cli {

std::optional<std::uint32_t> LaunchCalls::add(ProcessId process, const Event& call) {
  Calls& calls = processes_[process];
  const std::uint32_t known = calls.find(call.correlation);
  if (known != kNoPlace) {
    const LaunchCall& outer = calls.ring[known].call;
    if (outer.track == call.track && call.start_ns <= outer.end_ns) return std::nullopt;
    calls.unlink(known);
  }
  const std::uint32_t place = calls.next;
  if (place == calls.ring.size())
    calls.ring.emplace_back();
  else if (calls.ring[place].counts)
    calls.unlink(place);
  const std::int64_t end_ns = call.duration_ns < 0 ? call.start_ns : slice_end(call, kLatest_ns);
  calls.ring[place] = {{call.track, call.name, call.start_ns, end_ns}, call.correlation, kNoPlace, true};
  calls.ring.size() > calls.heads.size() ? calls.grow() : calls.link(place);
  calls.next = static_cast<std::uint32_t>((place + 1) % most_);
  return place;
}

const LaunchCall* LaunchCalls::of(ProcessId process, std::uint64_t correlation) const {
  const auto place = place_of(process, correlation);
  return place ? &processes_[process].ring[*place].call : nullptr;
}

std::optional<std::uint32_t> LaunchCalls::place_of(ProcessId process, std::uint64_t correlation) const {
  if (correlation == 0) return std::nullopt;
  const std::uint32_t place = processes_[process].find(correlation);
  return place == kNoPlace ? std::nullopt : std::optional(place);
}

std::uint32_t LaunchCalls::Calls::find(std::uint64_t correlation) const {
  std::uint32_t place = heads[home(correlation)];
  while (place != kNoPlace && ring[place].correlation != correlation) place = ring[place].next;
  return place;
}

void LaunchCalls::Calls::link(std::uint32_t place) {
  ring[place].next = std::exchange(heads[home(ring[place].correlation)], place);
}

void LaunchCalls::Calls::unlink(std::uint32_t place) {
  std::uint32_t* at = &heads[home(ring[place].correlation)];
  while (*at != place) at = &ring[*at].next;
  *at = ring[place].next;
  ring[place].counts = false;
}

void LaunchCalls::Calls::grow() {
  heads.assign(heads.size() * 2, kNoPlace);
  for (std::uint32_t place = 0; place < ring.size(); ++place) {
    if (ring[place].counts) link(place);
  }
}

}  // namespace cli
