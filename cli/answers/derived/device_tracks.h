// Computes the derived tracks of one device from its work.
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

// Output of the computed tracks of one device or process.
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

// Emits a counter's values in time order: only the last value of each moment, and only changes.
class CounterTrack final : public Changes {
 public:
  CounterTrack(TrackOut out, DerivedTrack track) : out_(out), track_(track) {}

  // `ns` must not decrease.
  void set(std::int64_t ns, double value) {
    if (ns > ns_) give();
    ns_ = ns;
    value_ = value;
    waits_ = true;
  }
  void add(std::int64_t ns, double change) override { set(ns, value_ + change); }

  // Emits the values before `at_ns`. The value that holds at `at_ns` is emitted again with that time once the next one
  // is known.
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
  double value_ = 0, last_ = 0;  // last_: as emitted
  bool waits_ = false, given_ = false, repeat_ = false;
};

// Idle slices of a device (cli/timeline/gpu/gpu_intervals.h).
//
// Gaps below kShortest_ns are not written: back-to-back kernels of one stream are about a microsecond apart, and
// writing such gaps would double the export without adding information. Sums stay correct: the next slice contains the
// number and the total time of the gaps skipped before it ("short_gaps", "short_gaps_ns").
class IdleTrack {
 public:
  static constexpr std::int64_t kShortest_ns = 1000;

  explicit IdleTrack(TrackOut out) : out_(out) {}

  void gap(std::int64_t from_ns, std::int64_t to_ns);  // in time order

 private:
  TrackOut out_;
  std::int64_t short_ns_ = 0;     // skipped since the last slice
  std::uint64_t short_gaps_ = 0;  // number of skipped gaps
};

// Share of each window in which a device had any work: 100 * union of its work / window. Windows end at multiples of
// one length on the common axis, so they are the same for all ranks. The first begins with the first work, the last
// ends with the last work, and a cut divides a window in two.

// Returns 1, 2 or 5 times a power of ten, at least 100 us, so that the trace has at most 2,000 windows.
std::int64_t busy_window_ns(const Catalog& catalog);

class BusyTrack {
 public:
  BusyTrack(TrackOut out, std::int64_t window_ns) : track_(out, DerivedTrack::busy), window_ns_(window_ns) {}

  // Called in order of start_ns: there is work from start_ns until at least until_ns.
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
  std::int64_t now_ns_ = kNever;            // everything before it is known
  std::int64_t covered_ns_ = kNever;        // the latest end of work so far
  std::int64_t begin_ns_ = 0, end_ns_ = 0;  // of the window
  std::int64_t busy_ns_ = 0;                // in the window
};

class DeviceTracks {
 public:
  DeviceTracks(TrackOut out, std::int64_t window_ns);

  // Called in order of start. `direction` is that of a copy, if its name contains it.
  void work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedTrack> direction);
  // The launch queue's counter, which the launch queue sets.
  CounterTrack& queue() { return queue_; }

  void cut(std::int64_t at_ns);
  void finish();

  // Callbacks of intervals_.
  void gap(std::int64_t from_ns, std::int64_t to_ns) { idle_.gap(from_ns, to_ns); }
  void busy(std::int64_t start_ns, std::int64_t until_ns) { busy_.work(start_ns, until_ns); }
  void ran(WorkClass, std::int64_t, std::int64_t) {}
  void exposed(std::int64_t from_ns, std::int64_t to_ns);

 private:
  auto flight() {
    return [this](std::int64_t ns, std::uint64_t collectives) {
      in_flight_track_.set(ns, static_cast<double>(collectives));
    };
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

// The memory tracks of a process, per device (cli/timeline/gpu/memory_levels.h). Host memory is on tracks of the whole
// process.
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
