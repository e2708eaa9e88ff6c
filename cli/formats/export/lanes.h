// Assigns the slices of a track to lanes, so that no viewer sees an overlap that it would show wrongly or drop.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/formats/export/exporter.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

// Layout of tracks in a viewer. Traced processes become Chrome processes, sorted by rank. Their threads and streams
// become Chrome threads, with ids that are positive, unique in the process and, if possible, the real ones.

// The first of our own ids, above Linux's largest thread id, 2^22.
inline constexpr std::uint32_t kFirstOwnTid = 5'000'000;

struct ProcessLayout {
  bool shown = false;                     // has an event, or lost all events
  std::uint32_t pid = 0;                  // rank + 1 if unique; never 0, which viewers use for the idle task
  std::size_t order = 0;                  // by rank, unknown ranks last
  std::string name;                       // "rank 3 node1:NVIDIA H100"
  std::uint32_t next_tid = kFirstOwnTid;  // for lanes that are added later
};

struct TrackLayout {
  bool shown = false;
  std::uint32_t tid = 0;
  std::size_t order = 0;  // in the process: threads, streams by device, others
  std::string name;       // "thread 4242 (python)", "stream 20 NCCL", "GPU 1 stream 7"
};

// The results are indexed by ProcessId and by TrackId. track_layouts() allocates ids from the processes' next_tid.
std::vector<ProcessLayout> process_layouts(const Catalog& catalog, const Census& census);
std::vector<TrackLayout> track_layouts(const Catalog& catalog, const Census& census,
                                       std::vector<ProcessLayout>& processes);

// The shown processes and tracks, from top to bottom.
struct DisplayOrder {
  std::vector<ProcessId> processes;
  std::vector<TrackId> tracks;
};
DisplayOrder display_order(const Catalog& catalog, const std::vector<ProcessLayout>& processes,
                           const std::vector<TrackLayout>& tracks);

enum class LaneRule : std::uint8_t {
  nest,   // host calls: a slice may be nested in another or follow it
  apart,  // GPU work: two simultaneous kernels are on two lanes, nested or not (PDL, concurrent copies)
};

// Greedy online assignment. Slices are added by start, the longer one first at equal starts, and get the first lane
// with space. A slice does not include the instant `end`; one of zero length occupies nothing. Time per slice: O(1) for
// the first kScanned lanes, O(log lanes) for further lanes, of which the one with the tightest enclosing slice is used.
// Memory: the open slices.
class Lanes {
 public:
  explicit Lanes(LaneRule rule) : rule_(rule) {}

  // Returns the lane of [start, end). A new lane is equal to size() before the call.
  std::size_t place(std::int64_t start, std::int64_t end);
  std::size_t size() const { return lanes_.size(); }

  struct Slice {
    std::size_t lane;
    std::int64_t start, end;
  };
  // Returns the slice with start <= time <= end that started last, to which a flow at `time` binds. `time` is not
  // before the last start added.
  std::optional<Slice> covering(std::int64_t time) const;

 private:
  static constexpr std::size_t kScanned = 8;
  struct Open {
    std::int64_t start, end;
  };
  using Lane = std::vector<Open>;  // outermost first

  bool fits(const Lane& lane, std::int64_t end) const {
    return lane.empty() || (rule_ == LaneRule::nest && lane.back().end >= end);
  }
  std::size_t place_in_crowd(std::int64_t start, std::int64_t end);
  void expire_crowd(std::int64_t start);
  std::size_t choose_in_crowd(std::int64_t end);

  LaneRule rule_;
  std::vector<Lane> lanes_;
  std::set<std::pair<std::int64_t, std::size_t>> busy_;  // lanes from kScanned on: (end of the innermost slice, lane)
  std::set<std::size_t> idle_;
};

// The lanes of one track. Slices that cannot share a lane get additional lanes, each directly below the previous one.
class TrackLanes {
 public:
  static constexpr std::int64_t kNoSlice = std::numeric_limits<std::int64_t>::min();

  struct Lane {
    std::string where;  // chrome_ids()
    std::uint32_t tid = 0;
    std::string name;
    std::size_t sort_index = 0;
    std::size_t output = 0;          // number of the lane in the exporter
    bool fresh = true;               // its metadata is not written yet
    std::int64_t top_ns = kNoSlice;  // start of the slice opened here last; kNoSlice after an instant
  };

  TrackLanes(TrackKind kind, const TrackLayout& track, ProcessLayout& process);

  // Returns the lane of a slice that ends at `end_ns`. Addresses of lanes are stable.
  Lane& place(const Event& event, std::int64_t end_ns);
  // Returns the lane for instants, counters and flows without a slice.
  Lane& base() { return *families_[main].opened.front(); }

  struct Bound {
    const Lane* lane;
    std::int64_t start_ns, end_ns;
  };
  // Returns a sort index below the stream with sort position `order`, whose last family is never used.
  static std::size_t index_beneath(std::size_t order);
  // Returns the slice to which a flow at `time_ns` binds (lanes.h).
  std::optional<Bound> covering(std::int64_t time_ns) const;

 private:
  // On a stream only GPU work uses the first lane: annotations enclose kernels and waits overlap them. GPU work that an
  // input has on other tracks is also kept separate there.
  enum FamilyId : std::size_t { annotations, main, waits, work, family_count };
  struct Family {
    std::optional<Lanes> lanes;
    std::vector<std::unique_ptr<Lane>> opened;
  };

  FamilyId family(Kind kind) const;
  static std::size_t index_of(std::size_t order, FamilyId id);
  void open_lane(FamilyId id);

  TrackKind kind_;
  const TrackLayout* track_;
  ProcessLayout* process_;
  std::array<Family, family_count> families_;
};

}  // namespace cli
