// The order of a merged trace: by start; of those that start together the longer first (a parent before its children;
// one without an end is longest), then by kind and track.
#pragma once
#include <cstdint>

#include "cli/trace/event.h"

namespace cli {

struct EventKey {
  std::int64_t start_ns;
  std::uint64_t shortness;  // kUnknownDuration becomes 0
  std::uint64_t kind_track;
  std::uint32_t place;  // breaks ties: input order

  friend bool operator<(const EventKey& a, const EventKey& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.shortness != b.shortness) return a.shortness < b.shortness;
    if (a.kind_track != b.kind_track) return a.kind_track < b.kind_track;
    return a.place < b.place;
  }
};

inline EventKey key_of(const Event& event, std::uint32_t place) {
  return {event.start_ns, ~static_cast<std::uint64_t>(event.duration_ns),
          static_cast<std::uint64_t>(event.kind) << 32 | event.track, place};
}

}  // namespace cli
