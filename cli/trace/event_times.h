// Which events have a duration, where they end, and ends that were recorded too late.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

// Which events have a duration, and where they end.

// Times of damaged files stay where differences of two are numbers; 2116 and 1933.
inline constexpr std::int64_t kEarliest_ns = -(std::int64_t{1} << 60), kLatest_ns = std::int64_t{1} << 62;
inline std::int64_t sane_ns(std::int64_t ns) { return std::clamp(ns, kEarliest_ns, kLatest_ns); }

// Slices have a duration; counters, instants and the ends of flows have none.
constexpr bool is_slice(const Event& event) {
  return event.phase == 'X' && event.kind != Kind::instant && event.kind != Kind::counter && event.kind != Kind::flow;
}

// The end of a slice, cut to the range of int64; an unknown duration ends at `trace_end`, and not before its start.
constexpr std::int64_t slice_end(const Event& event, std::int64_t trace_end) {
  if (event.duration_ns < 0) return std::max(event.start_ns, trace_end);
  const std::int64_t room = std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(event.start_ns, 0);
  return event.start_ns + std::min(event.duration_ns, room);
}

// GPU work whose recorded end lies far beyond the begin of later work of its stream. Work of a stream runs in order, but for
// kernels that are launched early (programmatic dependent launch), which overlap by microseconds: an end that is seconds late is
// one that the profiler did not see. The duration is kept and exported as the file says it; in spans and sums the work lasts until
// the later work began. A reader finds them (cli/formats/kineto/implausible_times.h).
constexpr std::int64_t kOverrun_ns = 1'000'000'000;

inline bool operator<(const Overrun& a, const Overrun& b) {
  return std::tie(a.correlation, a.duration_ns, a.cut_ns) < std::tie(b.correlation, b.duration_ns, b.cut_ns);
}

// The event as it counts in spans and sums: itself, or in `room` with the duration that is cut.
inline const Event& with_cut_overrun(const Catalog& catalog, const Event& event, Event& room) {
  if (event.duration_ns <= kOverrun_ns || !is_gpu_work(event.kind)) return event;
  const auto& overruns = catalog.processes[catalog.tracks[event.track].process].overruns;
  const auto found = std::lower_bound(overruns.begin(), overruns.end(), Overrun{event.correlation, event.duration_ns, 0});
  if (found == overruns.end() || found->correlation != event.correlation || found->duration_ns != event.duration_ns) return event;
  room = event;
  room.duration_ns = found->cut_ns;
  return room;
}

}  // namespace cli
