// The rows of one track: slices that may not share a lane get rows of their own, each directly beneath the last.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include "cli/export/lanes.h"
#include "cli/export/rows.h"
#include "cli/model/event.h"

namespace cli {

class TrackLanes {
 public:
  static constexpr std::int64_t kNoSlice = std::numeric_limits<std::int64_t>::min();

  struct Row {
    std::string where;  // chrome_row()
    std::uint32_t tid = 0;
    std::string name;
    std::size_t sort_index = 0;
    std::size_t output = 0;          // the exporter's own number of it
    bool fresh = true;               // its metadata is not written yet
    std::int64_t top_ns = kNoSlice;  // start of the slice that was opened here last; none after an instant
  };

  TrackLanes(TrackKind kind, const TrackRow& track, ProcessRow& process);

  // The row of a slice that ends at `end_ns`. Rows do not move.
  Row& place(const Event& event, std::int64_t end_ns);
  // Where instants, counters and arrows without a slice go.
  Row& base() { return families_[main].rows.front(); }

  struct Bound {
    const Row* row;
    std::int64_t start_ns, end_ns;
  };
  // In the order of rows: beneath the stream at place `order`, whose last family is never used.
  static std::size_t index_beneath(std::size_t order);
  // The slice that an arrow at `time_ns` binds to (lanes.h).
  std::optional<Bound> covering(std::int64_t time_ns) const;

 private:
  // On a stream only GPU work shares the first row: annotations enclose kernels and waits overlap them. GPU work that
  // an input puts elsewhere stays apart there, too.
  enum FamilyId : std::size_t { annotations, main, waits, work, family_count };
  struct Family {
    std::optional<Lanes> lanes;
    std::deque<Row> rows;
  };

  FamilyId family(Kind kind) const;
  static std::size_t index_of(std::size_t order, FamilyId id);
  void open_row(FamilyId id);

  TrackKind kind_;
  const TrackRow* track_;
  ProcessRow* process_;
  std::array<Family, family_count> families_;
};

}  // namespace cli
