// Which events have a duration, and where they end.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "cli/trace/event.h"

namespace cli {

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

}  // namespace cli
