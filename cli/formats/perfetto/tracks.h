// The tree of tracks: a process for each rank, with its threads and GPUs; below each GPU its streams with lanes and
// counters.
// https://perfetto.dev/docs/reference/synthetic-track-event
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/formats/export/lanes.h"
#include "cli/formats/perfetto/proto.h"
#include "cli/formats/perfetto/sequence.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli::perfetto {

using Uuid = std::uint64_t;

class Tracks {
 public:
  explicit Tracks(PacketStream& stream) : stream_(stream) {}

  // Sets the clock fits used by begin(), which have to outlive it.
  void clocks(const std::vector<ClockFit>& fits) { fits_ = &fits; }

  // Writes the beginning of the file: the wall clock as the time of the trace, its attributes, and every shown process,
  // sorted by rank. `layouts` have to outlive this.
  void begin(const Catalog& catalog, const std::vector<ProcessLayout>& layouts, std::int64_t origin_ns);

  // Writes a packet that is no event.
  void describe(Field field, const Buffer& content);

  // Each call creates a track.
  Uuid thread(ProcessId process, std::uint32_t tid, std::string_view name, std::size_t order);
  Uuid track(Uuid parent, std::string_view name, std::size_t order);
  Uuid counter(Uuid parent, std::string_view name, std::string_view unit, std::size_t order);

  // Returns the track of the process. It is described at its first use if the process is not shown.
  Uuid process(ProcessId id);
  std::uint32_t pid(ProcessId id) const { return processes_[id].pid; }
  // Returns the track of the GPU, created at its first use; the track of the process if `device` is negative.
  Uuid device(ProcessId process, std::int64_t device);

 private:
  struct OfProcess {
    Uuid uuid = 0;
    std::uint32_t pid = 0;
  };
  void choose_pids();
  void clock(std::int64_t origin_ns);
  void root();
  void describe_process(ProcessId id);
  void write(const Buffer& track) { describe(packet::track_descriptor, track); }

  PacketStream& stream_;
  const Catalog* catalog_ = nullptr;
  const std::vector<ClockFit>* fits_ = nullptr;
  const std::vector<ProcessLayout>* layouts_ = nullptr;
  std::vector<OfProcess> processes_;
  std::map<std::pair<ProcessId, std::int64_t>, Uuid> devices_;
  Uuid last_ = 0;
};

// The tracks of slices: those of the input and derived ones. A track and its sequence are created at their first use.
class TrackBook {
 public:
  TrackBook(const Catalog& catalog, EventPackets& packets, Tracks& tracks, std::deque<Sequence>& sequences)
      : catalog_(catalog), packets_(packets), tracks_(tracks), sequences_(sequences) {}

  // Clocks count from `origin_ns`; no time before it is written.
  void begin(const Census& census, std::int64_t origin_ns);

  // Returns the sequence of a slice. Slices that have ended are not ended yet.
  Sequence& place(const Event& event, std::int64_t end_ns);
  // Returns the sequence for instants on the track.
  Sequence& base(TrackId track) { return sequence(track, lanes_[track]->base()); }
  // Returns the sequence of a derived slice.
  Sequence& place(const Derived& slice);
  // Returns the slice that is open on the track at that time and started last, or null.
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
  std::vector<std::unique_ptr<TrackLanes>> lanes_;  // by TrackId; null if nothing is written
  std::map<DerivedTrackKey, Computed> computed_;
  std::int64_t origin_ns_ = 0;
  std::uint64_t extra_lanes_ = 0;
};

}  // namespace cli::perfetto
