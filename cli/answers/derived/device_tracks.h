// Computes the derived tracks of one device from its work.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/timeline/gpu/gpu_intervals.h"
#include "cli/timeline/gpu/launch_queue.h"
#include "cli/timeline/gpu/memory_levels.h"
#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"
#include "cli/trace/ranks.h"

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

// Share of each window in which a device had any work: 100 * union of its work / window. Windows end at multiples of
// one length on the common axis, so they are the same for all ranks. The first begins with the first work, the last
// ends with the last work, and a cut divides a window in two.

// Returns 1, 2 or 5 times a power of ten, at least 100 us, so that the trace has at most 2,000 windows.
inline std::int64_t busy_window_ns(const Catalog& catalog) {
  constexpr std::int64_t kShortestWindow_ns = 100'000, kMostWindows = 2000;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (const Process& p : catalog.processes) {
    if (p.first_ns == 0 && p.last_ns == 0) continue;
    first = std::min(first, p.first_ns);
    last = std::max(last, p.last_ns);
  }
  const double least = first < last ? (static_cast<double>(last) - static_cast<double>(first)) / kMostWindows : 0;
  std::int64_t decade = kShortestWindow_ns;
  while (static_cast<double>(decade) * 5 < least) decade *= 10;
  for (const std::int64_t times : {1, 2}) {
    if (static_cast<double>(decade * times) >= least) return decade * times;
  }
  return decade * 5;
}

class BusyTrack {
 public:
  BusyTrack(TrackOut out, std::int64_t window_ns) : track_(out, DerivedTrack::busy), window_ns_(window_ns) {}

  // Called in order of start_ns: there is work from start_ns until at least until_ns.
  void work(std::int64_t start_ns, std::int64_t until_ns) {
    if (now_ns_ == kNever) {
      now_ns_ = begin_ns_ = start_ns;
      end_ns_ = window_begin(start_ns) + window_ns_;
    }
    advance(start_ns);
    covered_ns_ = until_ns;
  }
  void cut(std::int64_t at_ns) {
    if (now_ns_ != kNever) {
      advance(at_ns);
      if (begin_ns_ < at_ns) close(at_ns);
    }
    track_.cut(at_ns);
  }
  void finish() {
    if (now_ns_ == kNever) return;
    if (covered_ns_ > now_ns_) advance(covered_ns_);
    if (begin_ns_ < now_ns_) close(now_ns_);
    track_.set(now_ns_, 0);
    track_.finish();
  }

 private:
  void advance(std::int64_t to_ns) {
    while (now_ns_ < to_ns) {
      const std::int64_t stop = std::min(to_ns, end_ns_);
      const std::int64_t busy = std::max<std::int64_t>(0, std::min(covered_ns_, stop) - now_ns_);
      busy_ns_ += busy;
      now_ns_ = stop;
      if (now_ns_ < end_ns_) return;
      close(now_ns_);
      pass_equal_windows(to_ns);
    }
  }
  void close(std::int64_t at_ns) {
    track_.set(begin_ns_, 100.0 * static_cast<double>(busy_ns_) / static_cast<double>(at_ns - begin_ns_));
    busy_ns_ = 0;
    begin_ns_ = at_ns;
    end_ns_ = window_begin(at_ns) + window_ns_;
  }
  // Emits one value for consecutive windows that are entirely busy or entirely idle.
  void pass_equal_windows(std::int64_t to_ns) {
    const bool busy = covered_ns_ > now_ns_;
    const std::int64_t last = window_begin(busy ? std::min(to_ns, covered_ns_) : to_ns);
    if (last <= now_ns_) return;
    track_.set(now_ns_, busy ? 100 : 0);
    now_ns_ = begin_ns_ = last;
    end_ns_ = last + window_ns_;
  }
  std::int64_t window_begin(std::int64_t ns) const {
    const std::int64_t into = ns % window_ns_;
    return ns - into - (into < 0 ? window_ns_ : 0);
  }

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  CounterTrack track_;
  std::int64_t window_ns_;
  std::int64_t now_ns_ = kNever;            // everything before it is known
  std::int64_t covered_ns_ = kNever;        // the latest end of work so far
  std::int64_t begin_ns_ = 0, end_ns_ = 0;  // of the window
  std::int64_t busy_ns_ = 0;                // in the window
};

// Gaps below kShortest_ns are not written as idle slices: back-to-back kernels of one stream are about a microsecond
// apart, and writing such gaps would double the export without adding information. Sums stay correct: the next slice
// contains the number and the total time of the gaps skipped before it ("short_gaps", "short_gaps_ns").
class DeviceTracks {
  static constexpr double kGigabyte = 1e9;
  static constexpr std::int64_t kShortest_ns = 1000;

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

 public:
  DeviceTracks(TrackOut out, std::int64_t window_ns)
      : out_(out),
        busy_(out, window_ns),
        in_flight_track_(out, DerivedTrack::comm_in_flight),
        copy_tracks_{CounterTrack(out, DerivedTrack::copy_h2d), CounterTrack(out, DerivedTrack::copy_d2h),
                     CounterTrack(out, DerivedTrack::copy_d2d), CounterTrack(out, DerivedTrack::copy_peer)},
        queue_(out, DerivedTrack::queue_length) {}

  // Called in order of start. `direction` is that of a copy, if its name contains it.
  void work(const Event& event, std::int64_t end_ns, WorkClass work_class, std::optional<DerivedTrack> direction) {
    intervals_.add(work_class, event.start_ns, end_ns, *this);
    if (work_class == WorkClass::comm) in_flight_.add(event.start_ns, end_ns, 1, flight());
    if (event.kind == Kind::memcpy && direction && event.has_bytes) {
      const std::size_t direction_index =
          static_cast<std::size_t>(*direction) - static_cast<std::size_t>(DerivedTrack::copy_h2d);
      copies_.add(direction_index, event.start_ns, end_ns, event.duration_ns, event.bytes, rate());
    }
  }
  // The launch queue's counter, which the launch queue sets.
  CounterTrack& queue() { return queue_; }

  void cut(std::int64_t at_ns) {
    intervals_.cut(at_ns, *this);
    busy_.cut(at_ns);
    in_flight_.advance(at_ns, flight());
    in_flight_track_.cut(at_ns);
    queue_.cut(at_ns);
    for (std::size_t direction = 0; direction < copy_tracks_.size(); ++direction) {
      copies_.advance(direction, at_ns, rate());
      copy_tracks_[direction].cut(at_ns);
    }
  }
  void finish() {
    intervals_.finish(*this);
    busy_.finish();
    in_flight_.advance(std::numeric_limits<std::int64_t>::max(), flight());
    in_flight_track_.finish();
    queue_.finish();
    for (std::size_t direction = 0; direction < copy_tracks_.size(); ++direction) {
      copies_.advance(direction, std::numeric_limits<std::int64_t>::max(), rate());
      copy_tracks_[direction].finish();
    }
  }

  // Callbacks of intervals_.
  void gap(std::int64_t from_ns, std::int64_t to_ns) {
    DerivedFacts facts;
    facts.length_ns = to_ns - from_ns;
    if (facts.length_ns < kShortest_ns) {
      short_ns_ += facts.length_ns;
      ++short_gaps_;
      return;
    }
    facts.short_gaps = std::exchange(short_gaps_, 0);
    facts.short_gaps_ns = std::exchange(short_ns_, 0);
    out_.slice(DerivedTrack::idle, from_ns, to_ns, facts);
  }
  void busy(std::int64_t start_ns, std::int64_t until_ns) { busy_.work(start_ns, until_ns); }
  void ran(WorkClass, std::int64_t, std::int64_t) {}
  void exposed(std::int64_t from_ns, std::int64_t to_ns) {
    DerivedFacts facts;
    facts.length_ns = to_ns - from_ns;
    out_.slice(DerivedTrack::exposed_comm, from_ns, to_ns, facts);
  }

 private:
  TrackOut out_;
  GpuIntervals intervals_;
  std::int64_t short_ns_ = 0;     // in gaps skipped since the last idle slice
  std::uint64_t short_gaps_ = 0;  // number of these gaps
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
  MemoryTracks(const Catalog& catalog, ProcessId process, DerivedSink& sink)
      : catalog_(&catalog), process_(process), sink_(&sink), levels_(catalog, process) {}

  // Any event of this process.
  void event(const Event& event, const Facts& facts) { levels_.event(event, facts, *this); }
  void cut(std::int64_t at_ns) {
    for (auto& [key, track] : tracks_) track.cut(at_ns);
  }
  void finish() {
    for (auto& [key, track] : tracks_) track.finish();
  }
  void add_notes(std::vector<std::string>& notes) const {
    if (!levels_.misses_allocations()) return;
    const Process& p = catalog_->processes[process_];
    notes.push_back(
        (p.rank >= 0 ? rank_list({p.rank}) : p.source) +
        ": no track of memory that the driver allocated, because some allocations are not in the recording");
  }

 private:
  void level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) override {
    const DerivedTrack track = which == MemoryLevel::allocated  ? DerivedTrack::allocated
                               : which == MemoryLevel::reserved ? DerivedTrack::reserved
                                                                : DerivedTrack::driver_memory;
    tracks_.try_emplace({device, track}, TrackOut{sink_, process_, device}, track)
        .first->second.set(ns, static_cast<double>(bytes));
  }

  const Catalog* catalog_;
  ProcessId process_;
  DerivedSink* sink_;
  MemoryLevels levels_;
  std::map<std::pair<std::int64_t, DerivedTrack>, CounterTrack> tracks_;
};

}  // namespace cli
