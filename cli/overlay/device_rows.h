// The rows of one device, fed by its work.
#pragma once
#include <array>
#include <optional>

#include "cli/overlay/busy_row.h"
#include "cli/overlay/exposed_row.h"
#include "cli/overlay/idle_row.h"
#include "cli/model/name_classes.h"
#include "cli/overlay/running_sum.h"

namespace cli {

class DeviceRows {
 public:
  DeviceRows(RowOut out, std::int64_t window_ns);

  // By start.
  void work(const Event& event, std::int64_t end_ns, const NameClasses::Class& name);
  // Of the launch queue, which feeds it.
  CounterRow& queue() { return queue_; }

  void cut(std::int64_t at_ns);
  void finish();
  DeviceTotals totals() const;

 private:
  void kernel(std::int64_t start_ns, std::int64_t end_ns, bool communicates);
  void copy(const Event& event, std::int64_t end_ns, DerivedRow direction);

  static constexpr std::size_t kDirections = 4;
  RowOut out_;
  IdleRow idle_;
  ExposedRow exposed_;
  BusyRow busy_;
  RunningSum in_flight_;
  std::array<RunningSum, kDirections> copies_;
  CounterRow queue_;
};

}  // namespace cli
