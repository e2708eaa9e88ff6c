// What an export shows besides the events: tracks that are derived from them (cli/answers/derived). One entry of kDerivedTracks
// each; a new one is one line here and its computation.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/trace/event.h"
#include "cli/trace/catalog.h"

namespace cli {

enum class DerivedTrack : std::uint8_t {
  idle,
  exposed_comm,
  lost,
  queue_length,
  copy_h2d,
  copy_d2h,
  copy_d2d,
  copy_peer,
  busy,
  comm_in_flight,
  allocated,
  reserved,
  collectives,
  count_
};

struct DerivedTrackInfo {
  std::string_view name;  // of the track or counter
  bool counter;           // values over time; else slices
  std::string_view unit;  // of a counter's values
};

inline constexpr std::array<DerivedTrackInfo, static_cast<std::size_t>(DerivedTrack::count_)> kDerivedTracks{{
    {"idle", false, ""},
    {"exposed communication", false, ""},
    {"lost events", false, ""},
    {"launch queue", true, "launches"},
    {"copies HtoD", true, "GB/s"},
    {"copies DtoH", true, "GB/s"},
    {"copies DtoD", true, "GB/s"},
    {"copies PtoP", true, "GB/s"},
    {"device busy", true, "%"},
    {"communication in flight", true, "collectives"},
    {"memory allocated", true, "bytes"},
    {"memory reserved", true, "bytes"},
    {"collectives", false, ""},
}};

constexpr const DerivedTrackInfo& info(DerivedTrack which) { return kDerivedTracks[static_cast<std::size_t>(which)]; }

enum class Operation : std::uint8_t;  // cli/timeline/collectives/operations.h

// A collective over its ranks. What it points to outlives it.
struct JoinedCollective {
  std::string_view communicator, description;  // as CommunicatorInfo has them; "": not known
  std::uint32_t group = 0;                     // in MatchedCollectives::groups
  std::uint32_t epoch = 0;                     // 0: unknown
  Operation operation{};
  std::int64_t bytes = -1;      // the size that bandwidth is computed from; -1: unknown, as below
  std::int64_t ordinal = 0;
  std::int64_t last_rank = -1;  // to start
  std::int64_t ranks = 0;
};

enum class CollectivePart : std::uint8_t { wait, transfer };

enum class Loss : std::uint8_t { none, overwritten, unrecorded, everything, gap };

// What a slice says besides its time, of which less may be written. Exporters make words of it (cli/formats/export/shared_json.h).
struct DerivedFacts {
  std::int64_t length_ns = -1;  // -1: unknown
  std::uint64_t short_gaps = 0;  // of idle: gaps too short to be written since the one before, and their sum
  std::int64_t short_gaps_ns = 0;
  Loss loss = Loss::none;
  const Notice* gap = nullptr;      // of the catalogue
  std::int64_t gap_seen_ns = 0;     // how much of it lies before the last event
  const JoinedCollective* collective = nullptr;  // of collectives: it is this part of it
  CollectivePart part = CollectivePart::wait;
};

// A slice, or a counter's value from `start_ns` until the next one of its track.
struct Derived {
  ProcessId process = 0;
  DerivedTrack track = DerivedTrack::idle;
  std::int64_t device = -1;  // as the process numbers it; -1: of the whole process
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // >= 0; 0 for counters
  double value = 0;              // of a counter
  DerivedFacts facts = {};       // of a slice
};

// What tells tracks apart.
struct DerivedTrackKey {
  ProcessId process = 0;
  DerivedTrack track = DerivedTrack::idle;
  std::int64_t device = -1;
  std::uint32_t group = 0;
  auto operator<=>(const DerivedTrackKey&) const = default;
};

constexpr DerivedTrackKey track_of(const Derived& derived) {
  const JoinedCollective* const collective = derived.facts.collective;
  return {derived.process, derived.track, derived.device, collective != nullptr ? collective->group : 0};
}

// Tracks (process, track, device; of collectives also their group) each come in the order of time; among each other, and beside the events, in none.
class DerivedSink {
 public:
  virtual ~DerivedSink() = default;
  virtual void derived(const Derived& derived) = 0;
};

}  // namespace cli
