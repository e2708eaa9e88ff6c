// Where slices are written: the tracks of the input and the derived ones, each with its sequence, both made at their first use.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "cli/formats/perfetto/sequence.h"
#include "cli/formats/perfetto/tracks.h"
#include "cli/formats/export/track_layout.h"
#include "cli/formats/export/track_lanes.h"

namespace cli::perfetto {

class TrackBook {
 public:
  TrackBook(const Catalog& catalog, EventPackets& packets, Tracks& tracks, std::deque<Sequence>& sequences)
      : catalog_(catalog), packets_(packets), tracks_(tracks), sequences_(sequences) {}

  // Clocks count from `origin_ns`: nothing is written before.
  void begin(const Census& census, std::int64_t origin_ns);

  // The sequence of a slice; it has ended nothing yet.
  Sequence& place(const Event& event, std::int64_t end_ns);
  // Of instants on the track.
  Sequence& base(TrackId track) { return sequence(track, lanes_[track]->base()); }
  // Of a computed slice.
  Sequence& place(const Derived& slice);
  // The slice that is open on the track at that time and started last, or null.
  OpenSlice* covering(TrackId track, std::int64_t time_ns);

  const std::string& name(TrackId track) const { return layouts_[track].name; }
  std::uint64_t extra_lanes() const { return extra_lanes_; }

 private:
  struct Computed {
    Lanes lanes{LaneRule::nest};
    std::vector<Sequence*> sequences;
  };
  Sequence& sequence(TrackId track, TrackLanes::Lane& lane);
  Sequence& open(Uuid track);
  Uuid describe(TrackId track, const TrackLanes::Lane& lane, bool first);

  const Catalog& catalog_;
  EventPackets& packets_;
  Tracks& tracks_;
  std::deque<Sequence>& sequences_;
  std::vector<ProcessLayout> processes_;
  std::vector<TrackLayout> layouts_;
  std::vector<std::unique_ptr<TrackLanes>> lanes_;  // by TrackId; null where nothing is written
  std::map<DerivedTrackKey, Computed> computed_;
  std::int64_t origin_ns_ = 0;
  std::uint64_t extra_lanes_ = 0;
};

}  // namespace cli::perfetto
