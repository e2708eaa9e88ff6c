// The lanes of one track: slices that may not share a lane get lanes of their own, each directly beneath the last.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/formats/export/lanes.h"
#include "cli/formats/export/track_layout.h"
#include "cli/trace/event.h"

namespace cli {

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
