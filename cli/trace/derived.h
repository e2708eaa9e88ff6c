// Tracks of an export that are derived from the events (cli/answers/derived). Each has one entry in kDerivedTracks; a
// new one needs an entry here and its computation.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

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
  driver_memory,
  // Memory by category, in the order of memory::Category
  unknown_memory,
  parameters,
  gradients,
  optimizer_state,
  activations,
  temporary_memory,
  collectives,
  count_
};

struct DerivedTrackInfo {
  std::string_view name;  // of the track or counter
  bool counter;           // true for values over time, false for slices
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
    {"memory allocated by the driver", true, "bytes"},
    {"memory of unknown category", true, "bytes"},
    {"memory of parameters", true, "bytes"},
    {"memory of gradients", true, "bytes"},
    {"memory of optimizer state", true, "bytes"},
    {"memory of activations", true, "bytes"},
    {"temporary memory", true, "bytes"},
    {"collectives", false, ""},
}};

constexpr const DerivedTrackInfo& info(DerivedTrack which) { return kDerivedTracks[static_cast<std::size_t>(which)]; }

enum class Operation : std::uint8_t;  // cli/timeline/collectives/operations.h

// A collective joined over its ranks. The objects it points to outlive it.
struct JoinedCollective {
  std::string_view communicator, description;  // from CommunicatorInfo; "" if unknown
  std::uint32_t group = 0;                     // index in MatchedCollectives::groups
  std::uint32_t epoch = 0;                     // 0 if unknown
  Operation operation{};
  std::int64_t bytes = -1;  // the size for bandwidth; -1 if unknown (also below)
  std::int64_t ordinal = 0;
  std::int64_t last_rank = -1;  // the rank that starts last
  std::int64_t ranks = 0;
};

enum class CollectivePart : std::uint8_t { wait, transfer };

enum class Loss : std::uint8_t { none, overwritten, unrecorded, everything, gap };

// Facts of a slice other than its time. An exporter may omit some; it turns them into text
// (cli/formats/export/shared_json.h).
struct DerivedFacts {
  std::int64_t length_ns = -1;  // -1 if unknown
  // idle: number and total time of gaps since the previous slice that are too short to be written
  std::uint64_t short_gaps = 0;
  std::int64_t short_gaps_ns = 0;
  Loss loss = Loss::none;
  const Notice* gap = nullptr;                   // in the catalogue
  std::int64_t gap_seen_ns = 0;                  // the part of the gap before the last event
  const JoinedCollective* collective = nullptr;  // collectives: the operation that this slice is a part of
  CollectivePart part = CollectivePart::wait;
};

// A slice, or the value of a counter from `start_ns` until the next value of its track.
struct Derived {
  ProcessId process = 0;
  DerivedTrack track = DerivedTrack::idle;
  std::int64_t device = -1;  // CUDA device number in the process; -1 for the whole process
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // >= 0; 0 for counters
  double value = 0;              // counters only
  DerivedFacts facts = {};       // slices only
};

// Identifies a track.
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

// Receives the slices and values of each track (process, track, device; for collectives also the group) in time order.
// There is no order among tracks or relative to events.
class DerivedSink {
 public:
  virtual ~DerivedSink() = default;
  virtual void derived(const Derived& derived) = 0;
};

}  // namespace cli
