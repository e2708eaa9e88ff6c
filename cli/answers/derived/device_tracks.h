// The tracks of one device, fed by its work.
#pragma once
#include <array>
#include <optional>

#include "cli/timeline/gpu/copy_rates.h"
#include "cli/timeline/gpu/gpu_intervals.h"
#include "cli/timeline/gpu/running_sum.h"
#include "cli/answers/derived/busy_track.h"
#include "cli/answers/derived/idle_track.h"

namespace cli {

class DeviceTracks {
 public:
  DeviceTracks(TrackOut out, std::int64_t window_ns);

  // By start. `direction`: of a copy whose name tells it.
  void work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedTrack> direction);
  // Of the launch queue, which feeds it.
  CounterTrack& queue() { return queue_; }

  void cut(std::int64_t at_ns);
  void finish();

  // What intervals_ gives.
  void gap(std::int64_t from_ns, std::int64_t to_ns) { idle_.gap(from_ns, to_ns); }
  void busy(std::int64_t start_ns, std::int64_t until_ns) { busy_.work(start_ns, until_ns); }
  void ran(WorkClass, std::int64_t, std::int64_t) {}
  void exposed(std::int64_t from_ns, std::int64_t to_ns);

 private:
  auto flight() {
    return [this](std::int64_t ns, std::uint64_t collectives) { in_flight_track_.set(ns, static_cast<double>(collectives)); };
  }
  auto rate() {
    return [this](std::size_t direction, std::int64_t ns, std::uint64_t bytes_per_s) {
      copy_tracks_[direction].set(ns, static_cast<double>(bytes_per_s) / kGigabyte);
    };
  }

  static constexpr double kGigabyte = 1e9;
  TrackOut out_;
  GpuIntervals intervals_;
  IdleTrack idle_;
  BusyTrack busy_;
  RunningSum in_flight_;
  CounterTrack in_flight_track_;
  CopyRates copies_;
  std::array<CounterTrack, CopyRates::kDirections> copy_tracks_;  // by direction, in the order of DerivedTrack
  CounterTrack queue_;
};

}  // namespace cli
