// When a device only communicated: the union of its communication kernels less the union of its other kernels (a whole
// graph counts as one: what is in it is not known). Copies and sets do not hide communication.
//
// No kernel starts between two starts, so from one to the next each union lasts until the latest end so far: two
// numbers are all that must be known.
#pragma once
#include <cstdint>
#include <limits>

#include "cli/overlay/overlay.h"
#include "cli/overlay/row_out.h"

namespace cli {

class ExposedRow {
 public:
  explicit ExposedRow(RowOut out) : out_(out) {}

  // Both by start, in one order.
  void comm(std::int64_t start_ns, std::int64_t end_ns);
  void other(std::int64_t start_ns, std::int64_t end_ns);
  void cut(std::int64_t at_ns);
  void finish();
  void add_totals(DeviceTotals& totals) const;

 private:
  void advance(std::int64_t to_ns);
  void draw();

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  RowOut out_;
  std::int64_t now_ns_ = kNever, comm_end_ns_ = kNever, other_end_ns_ = kNever;
  std::int64_t from_ns_ = 0, to_ns_ = 0;  // exposed, not drawn yet: it may go on
  std::int64_t comm_ns_ = 0, exposed_ns_ = 0;
};

}  // namespace cli
