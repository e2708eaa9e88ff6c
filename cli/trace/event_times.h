// Durations and ends of events, including ends that were recorded too late.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

// Durations and ends of events.

// Times of damaged files are clamped to a range in which differences cannot overflow: the years 1933 to 2116.
inline constexpr std::int64_t kEarliest_ns = -(std::int64_t{1} << 60), kLatest_ns = std::int64_t{1} << 62;
inline std::int64_t sane_ns(std::int64_t ns) { return std::clamp(ns, kEarliest_ns, kLatest_ns); }

// Returns true if the event has a duration. Counters, instants and flow endpoints have none.
constexpr bool is_slice(const Event& event) {
  return event.phase == 'X' && event.kind != Kind::instant && event.kind != Kind::counter && event.kind != Kind::flow;
}

// Returns the end of a slice, limited to the range of int64. A slice of unknown duration ends at `trace_end`, but not
// before its start.
constexpr std::int64_t slice_end(const Event& event, std::int64_t trace_end) {
  if (event.duration_ns < 0) return std::max(event.start_ns, trace_end);
  const std::int64_t room = std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(event.start_ns, 0);
  return event.start_ns + std::min(event.duration_ns, room);
}

// Overruns: GPU work whose recorded end is far after the start of later work on its stream. Work on a stream runs in
// order, except for kernels that are launched early (programmatic dependent launch), which overlap by microseconds. An
// end that is seconds late is therefore wrong: the profiler missed the real one. The duration is kept and exported as
// recorded, but spans and sums count the work only up to the start of the later work. Readers find overruns
// (cli/formats/kineto/implausible_times.h).
constexpr std::int64_t kOverrun_ns = 1'000'000'000;

inline bool operator<(const Overrun& a, const Overrun& b) {
  return std::tie(a.correlation, a.duration_ns, a.cut_ns) < std::tie(b.correlation, b.duration_ns, b.cut_ns);
}

// Returns the event as it counts in spans and sums: `event` itself, or a copy in `room` with the shortened duration.
inline const Event& with_cut_overrun(const Catalog& catalog, const Event& event, Event& room) {
  if (event.duration_ns <= kOverrun_ns || !is_gpu_work(event.kind)) return event;
  const auto& overruns = catalog.processes[catalog.tracks[event.track].process].overruns;
  const auto found =
      std::lower_bound(overruns.begin(), overruns.end(), Overrun{event.correlation, event.duration_ns, 0});
  if (found == overruns.end() || found->correlation != event.correlation || found->duration_ns != event.duration_ns)
    return event;
  room = event;
  room.duration_ns = found->cut_ns;
  return room;
}

}  // namespace cli
