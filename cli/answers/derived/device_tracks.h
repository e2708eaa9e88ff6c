// The tracks of one device, fed by its work.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/timeline/gpu/gpu_intervals.h"
#include "cli/timeline/gpu/launch_queue.h"
#include "cli/timeline/gpu/memory_levels.h"
#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"

namespace cli {

// Where the computed tracks of one device, or of a process, go.
struct TrackOut {
  DerivedSink* sink = nullptr;
  ProcessId process = 0;
  std::int64_t device = -1;

  void slice(DerivedTrack track, std::int64_t start_ns, std::int64_t end_ns, const DerivedFacts& facts) const {
    sink->derived({process, track, device, start_ns, end_ns - start_ns, 0, facts});
  }
  void value(DerivedTrack track, std::int64_t ns, double value) const {
    sink->derived({process, track, device, ns, 0, value, {}});
  }
};

// A counter's values in the order of time: the last of each moment, and none that repeats the one before.
class CounterTrack final : public Changes {
 public:
  CounterTrack(TrackOut out, DerivedTrack track) : out_(out), track_(track) {}

  // `ns` ascends.
  void set(std::int64_t ns, double value) {
    if (ns > ns_) give();
    ns_ = ns;
    value_ = value;
    waits_ = true;
  }
  void add(std::int64_t ns, double change) override { set(ns, value_ + change); }

  // Values before `at_ns` are given; the one that holds there comes again, with that time, when the next is known.
  void cut(std::int64_t at_ns) {
    if (ns_ < at_ns) give();
    if (!given_ && !waits_) return;
    repeat_ = true;
    if (!waits_) {
      ns_ = at_ns;
      waits_ = true;
    }
  }
  void finish() { give(); }

 private:
  void give() {
    if (waits_ && (repeat_ || !given_ || value_ != last_)) {
      out_.value(track_, ns_, value_);
      last_ = value_;
      given_ = true;
      repeat_ = false;
    }
    waits_ = false;
  }

  TrackOut out_;
  DerivedTrack track_;
  std::int64_t ns_ = std::numeric_limits<std::int64_t>::min();
  double value_ = 0, last_ = 0;  // last_: as given
  bool waits_ = false, given_ = false, repeat_ = false;
};

// The gaps of a device in which it had nothing to do (cli/timeline/gpu/gpu_intervals.h), written.
//
// A gap below kShortest_ns is not written: back-to-back kernels of one stream are about a microsecond apart, so such gaps
// say nothing and would double the export. None is lost to a sum: the next slice that is written says how many came
// before it and how long they are together ("short_gaps", "short_gaps_ns").
class IdleTrack {
 public:
  static constexpr std::int64_t kShortest_ns = 1000;

  explicit IdleTrack(TrackOut out) : out_(out) {}

  void gap(std::int64_t from_ns, std::int64_t to_ns);  // by time

 private:
  TrackOut out_;
  std::int64_t short_ns_ = 0;      // not written since the last slice
  std::uint64_t short_gaps_ = 0;   // ... their number
};

// How much of each window a device had any work: 100 * union of its work / window. Windows end at multiples of one
// length on the axis, so that they are the same for all ranks; the first begins with the first work, the last ends with
// the last, and a cut parts one in two.

// 1, 2 or 5 times a power of ten, not below 100 us, such that the trace has at most 2,000 windows.
std::int64_t busy_window_ns(const Catalog& catalog);

class BusyTrack {
 public:
  BusyTrack(TrackOut out, std::int64_t window_ns) : track_(out, DerivedTrack::busy), window_ns_(window_ns) {}

  // By start: from start_ns on there is work until until_ns at least.
  void work(std::int64_t start_ns, std::int64_t until_ns);
  void cut(std::int64_t at_ns);
  void finish();

 private:
  void advance(std::int64_t to_ns);
  void close(std::int64_t at_ns);
  void pass_equal_windows(std::int64_t to_ns);
  std::int64_t window_begin(std::int64_t ns) const;

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  CounterTrack track_;
  std::int64_t window_ns_;
  std::int64_t now_ns_ = kNever;            // all is known up to here
  std::int64_t covered_ns_ = kNever;        // the latest end of work so far
  std::int64_t begin_ns_ = 0, end_ns_ = 0;  // of the window
  std::int64_t busy_ns_ = 0;                // in it
};

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

// The tracks of a process's memory, per device (cli/timeline/gpu/memory_levels.h); the host's are on the tracks of the whole process.
class MemoryTracks final : private MemoryLevels::Out {
 public:
  MemoryTracks(const Catalog& catalog, ProcessId process, DerivedSink& sink);

  // Any event of this process.
  void event(const Event& event, const Facts& facts) { levels_.event(event, facts, *this); }
  void cut(std::int64_t at_ns);
  void finish();
  void add_notes(std::vector<std::string>& notes) const;

 private:
  struct Tracks {
    CounterTrack allocated, reserved;
  };
  void level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) override;

  const Catalog* catalog_;
  ProcessId process_;
  DerivedSink* sink_;
  MemoryLevels levels_;
  std::map<std::int64_t, Tracks> devices_;
};

}  // namespace cli
