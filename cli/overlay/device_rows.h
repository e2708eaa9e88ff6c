// The rows of one device, fed by its work.
#pragma once
#include <array>
#include <optional>

#include "cli/analyze/copy_rates.h"
#include "cli/analyze/gpu_intervals.h"
#include "cli/analyze/running_sum.h"
#include "cli/overlay/busy_row.h"
#include "cli/overlay/idle_row.h"

namespace cli {

class DeviceRows {
 public:
  DeviceRows(RowOut out, std::int64_t window_ns);

  // By start. `direction`: of a copy whose name tells it.
  void work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedRow> direction);
  // Of the launch queue, which feeds it.
  CounterRow& queue() { return queue_; }

  void cut(std::int64_t at_ns);
  void finish();

  // What intervals_ gives.
  void gap(std::int64_t from_ns, std::int64_t to_ns) { idle_.gap(from_ns, to_ns); }
  void busy(std::int64_t start_ns, std::int64_t until_ns) { busy_.work(start_ns, until_ns); }
  void ran(WorkClass, std::int64_t, std::int64_t) {}
  void exposed(std::int64_t from_ns, std::int64_t to_ns);

 private:
  auto flight() {
    return [this](std::int64_t ns, std::uint64_t collectives) { in_flight_row_.set(ns, static_cast<double>(collectives)); };
  }
  auto rate() {
    return [this](std::size_t direction, std::int64_t ns, std::uint64_t bytes_per_s) {
      copy_rows_[direction].set(ns, static_cast<double>(bytes_per_s) / kGigabyte);
    };
  }

  static constexpr double kGigabyte = 1e9;
  RowOut out_;
  GpuIntervals intervals_;
  IdleRow idle_;
  BusyRow busy_;
  RunningSum in_flight_;
  CounterRow in_flight_row_;
  CopyRates copies_;
  std::array<CounterRow, CopyRates::kDirections> copy_rows_;  // by direction, in the order of DerivedRow
  CounterRow queue_;
};

}  // namespace cli
