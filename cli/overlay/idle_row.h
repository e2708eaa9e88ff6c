// When a device had nothing to do: gaps in the union of its work, between its first and its last. Work of no length
// parts a gap in two.
//
// A gap below kShortest_ns is not drawn: back-to-back kernels of one stream are about a microsecond apart, so such gaps
// say nothing and would double the picture. None is lost to a sum: the next slice that is drawn says how many came
// before it and how long they are together ("short_gaps", "short_gaps_ns"), and the totals count all.
#pragma once
#include <cstdint>
#include <limits>

#include "cli/overlay/overlay.h"
#include "cli/overlay/row_out.h"

namespace cli {

class IdleRow {
 public:
  static constexpr std::int64_t kShortest_ns = 1000;

  explicit IdleRow(RowOut out) : out_(out) {}

  void work(std::int64_t start_ns, std::int64_t end_ns);  // by start
  // Idle now: drawn up to here, in the totals only if work follows.
  void cut(std::int64_t at_ns);
  void add_totals(DeviceTotals& totals) const;

 private:
  struct Sums {
    std::int64_t idle_ns = 0, short_ns = 0;
    std::uint64_t short_gaps = 0;
  };
  void gap(std::int64_t end_ns);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  RowOut out_;
  std::int64_t free_ns_ = kNever;  // nothing runs from here on, as far as is known
  std::int64_t short_ns_ = 0;      // not drawn since the last slice
  std::uint64_t short_gaps_ = 0;   // ... their number
  Sums sums_, at_last_work_;
};

}  // namespace cli
