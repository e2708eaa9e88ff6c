// Puts the slices of one track on lanes so that no viewer meets an overlap that it would draw wrongly or drop.
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

// How tracks are laid out in a viewer: traced processes become Chrome processes in the order of their ranks, their threads and
// streams become Chrome threads with ids that are positive, unique in the process and, where possible, the real ones.

// Ids from here on are given out by us: above Linux's largest thread id, 2^22.
inline constexpr std::uint32_t kFirstOwnTid = 5'000'000;

struct ProcessLayout {
  bool shown = false;                     // has an event, or lost all that it had
  std::uint32_t pid = 0;                  // rank + 1 where that is unique: never 0, which viewers give to the idle task
  std::size_t order = 0;                  // by rank, unknown ranks last
  std::string name;                       // "rank 3 node1:NVIDIA H100"
  std::uint32_t next_tid = kFirstOwnTid;  // for lanes that are opened later
};

struct TrackLayout {
  bool shown = false;
  std::uint32_t tid = 0;
  std::size_t order = 0;  // within the process: threads, streams by device, others
  std::string name;       // "thread 4242 (python)", "stream 20 NCCL", "GPU 1 stream 7"
};

// By ProcessId and by TrackId. track_layouts() takes ids from the processes' next_tid.
std::vector<ProcessLayout> process_layouts(const Catalog& catalog, const Census& census);
std::vector<TrackLayout> track_layouts(const Catalog& catalog, const Census& census, std::vector<ProcessLayout>& processes);

// What is shown, from top to bottom.
struct DisplayOrder {
  std::vector<ProcessId> processes;
  std::vector<TrackId> tracks;
};
DisplayOrder display_order(const Catalog& catalog, const std::vector<ProcessLayout>& processes,
                           const std::vector<TrackLayout>& tracks);

enum class LaneRule : std::uint8_t {
  nest,   // host calls: a slice may lie within another, or beside it
  apart,  // GPU work: two kernels at the same time are two lanes, nested or not (PDL, concurrent copies)
};

// Online and greedy: slices come by start ascending, the longer first at equal starts, and take the first lane where
// they fit. A slice ends before the instant `end`; one of zero length covers nothing. Time per slice: O(1) for the
// first kScanned lanes, O(log lanes) beyond them, where the tightest enclosing slice wins. Memory: the open slices.
class Lanes {
 public:
  explicit Lanes(LaneRule rule) : rule_(rule) {}

  // The lane of [start, end); a new one is size() before the call.
  std::size_t place(std::int64_t start, std::int64_t end);
  std::size_t size() const { return lanes_.size(); }

  struct Slice {
    std::size_t lane;
    std::int64_t start, end;
  };
  // The placed slice with start <= time <= end that started last: what a flow at `time` binds to. `time` is not
  // before the last start placed.
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

// The lanes of one track: slices that may not share a lane get lanes of their own, each directly beneath the last.
class TrackLanes {
 public:
  static constexpr std::int64_t kNoSlice = std::numeric_limits<std::int64_t>::min();

  struct Lane {
    std::string where;  // chrome_ids()
    std::uint32_t tid = 0;
    std::string name;
    std::size_t sort_index = 0;
    std::size_t output = 0;          // the exporter's own number of it
    bool fresh = true;               // its metadata is not written yet
    std::int64_t top_ns = kNoSlice;  // start of the slice that was opened here last; none after an instant
  };

  TrackLanes(TrackKind kind, const TrackLayout& track, ProcessLayout& process);

  // The lane of a slice that ends at `end_ns`. Lanes do not move.
  Lane& place(const Event& event, std::int64_t end_ns);
  // Where instants, counters and flows without a slice go.
  Lane& base() { return *families_[main].opened.front(); }

  struct Bound {
    const Lane* lane;
    std::int64_t start_ns, end_ns;
  };
  // A sort index: beneath the stream at place `order`, whose last family is never used.
  static std::size_t index_beneath(std::size_t order);
  // The slice that a flow at `time_ns` binds to (lanes.h).
  std::optional<Bound> covering(std::int64_t time_ns) const;

 private:
  // On a stream only GPU work shares the first lane: annotations enclose kernels and waits overlap them. GPU work that
  // an input puts elsewhere stays apart there, too.
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
