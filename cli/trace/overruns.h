// GPU work whose recorded end lies far beyond the begin of later work of its stream. Work of a stream runs in order, but for
// kernels that are launched early (programmatic dependent launch), which overlap by microseconds: an end that is seconds late is
// one that the profiler did not see. The duration is kept and exported as the file says it; in spans and sums the work lasts until
// the later work began. A reader finds them (read/stream_overruns.h).
#pragma once
#include <algorithm>
#include <cstdint>
#include <tuple>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/kinds.h"

namespace cli {

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
