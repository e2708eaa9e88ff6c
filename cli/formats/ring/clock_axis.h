// Converts times of CUPTI's clock and CLOCK_MONOTONIC to the wall clock of the host, using the clock samples of a
// recording.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/layout.h"

namespace cli::ring {

// Converts CUPTI's times to the axis of the recording if the wall clock, which CUPTI's clock follows, was set during
// recording.
//
// If the clock was set forward, a range of times does not occur; the clock was set there. If it was set back, a range
// of times occurs twice, and the order of events decides: CUPTI numbers the calls of a process sequentially, and work
// of a stream begins in the order of its calls. If times decrease from one number to the next, the clock was set
// between the two.

// The times of a record on CUPTI's clock.
struct CuptiTimes {
  static constexpr std::uint64_t kCalls = 0;
  std::uint64_t queue = kCalls;            // the stream of GPU work; all calls share kCalls
  std::uint32_t correlation = 0;           // 0 if none
  std::uint64_t start_ns = 0, end_ns = 0;  // end_ns is 0 if it had not ended
};

class SetClock {
 public:
  // Adds an era of CUPTI's clock. Eras are added in order. `offset_ns` is added to convert to the axis. The era began
  // between these two times on the axis.
  void add_era(std::int64_t offset_ns, std::int64_t after_ns, std::int64_t before_ns);
  // Returns true if CUPTI's clock was set. Otherwise this class is not needed.
  bool any() const { return eras_.size() > 1; }

  // Returns true if these times may show when the clock was set.
  bool is_near(const CuptiTimes& times) const;
  // Finds when the clock was set, from all times for which is_near() returned true, in any order.
  void learn(const std::vector<CuptiTimes>& all);

  struct Interval {
    std::int64_t start_ns, end_ns;  // 0 if not ended
  };
  Interval on_axis(const CuptiTimes& times) const;

 private:
  struct Era {
    std::int64_t offset_ns;
    std::int64_t after_ns, before_ns;              // on the axis: limits of its beginning
    std::map<std::uint64_t, std::uint32_t> first;  // by queue: first known correlation of this era
    // On CUPTI's clock: limits of the times of this era; the largest of this and earlier eras; the smallest of this and
    // later ones.
    std::int64_t first_ns = 0, last_ns = 0, last_so_far_ns = 0, first_from_here_ns = 0;

    bool is_of(const CuptiTimes& times) const;
  };

  void find_windows();
  void find_gap(std::size_t era, const std::vector<const CuptiTimes*>& near);
  void find_order(std::size_t era, std::vector<const CuptiTimes*> near);
  void narrow(std::size_t era, std::int64_t before_cupti_ns, std::int64_t after_cupti_ns);
  // Returns true if the times may show when this era began, by CUPTI's clock.
  bool is_near(const Era& era, const Era& before, const CuptiTimes& times) const;
  // Calls visit(era) for the possible eras of the time; if there is none, for the nearest one.
  template <typename Visit>
  void each_era(std::uint64_t cupti_ns, const Visit& visit) const;

  std::vector<Era> eras_;
};

// A record with times on CUPTI's clock.
template <typename Record>
concept TimedByCupti = requires(Record record) {
  record.start_cupti_ns;
}
|| requires(Record record) { record.time_cupti_ns; };

template <TimedByCupti Record>
CuptiTimes cupti_times(const Record& record) {
  CuptiTimes times;
  if constexpr (requires { record.correlation; }) times.correlation = record.correlation;
  if constexpr (requires { record.time_cupti_ns; }) {
    times.start_ns = times.end_ns = record.time_cupti_ns;
  } else {
    if constexpr (requires {
                    record.device;
                    record.stream;
                  })
      times.queue = 1 + (std::uint64_t{record.device} << 32 | record.stream);
    times.start_ns = record.start_cupti_ns;
    if constexpr (requires { record.end_cupti_ns; }) {
      times.end_ns = record.end_cupti_ns;
    } else {
      times.end_ns = record.start_cupti_ns + record.duration_ns;
    }
  }
  return times;
}

// Converts times to the wall clock.
//
// CLOCK_REALTIME - CLOCK_MONOTONIC is constant until the wall clock is set, because the kernel slews both together.
// Single samples vary by their uncertainty. The offset of the most exact sample is therefore used for the whole file,
// except for blocks whose own sample differs by more than kStep_ns and its own uncertainty. In these CUPTI's time base
// was changed, and the block's own sample is used. A profiler in the process may change the base between two samples of
// one block: a time more than an hour outside of the recording is converted with the base that puts it inside. Samples
// after the year 2116 are damaged and ignored; a damaged time becomes some other time, without undefined behaviour.
//
// If the wall clock was set during recording, all times use the last setting: the axis is CLOCK_MONOTONIC plus one
// offset, so durations and order are preserved. The last offset is used because it is the same for all processes of the
// host, which share a clock: processes that run until the job ends have sampled it, whenever they began and however
// much of their recordings was overwritten. It is also the offset of heartbeats and of the time at which a recording
// was closed, and it is usually right, because a clock is set when it is wrong. CUPTI's clock follows the wall clock;
// its times are converted to CLOCK_MONOTONIC with the samples before and after the change.
class ClockAxis {
 public:
  static constexpr std::int64_t kStep_ns = 50'000;

  // `samples` are those of the header and of the blocks. `records` are additional samples, used only to find when the
  // wall clock was set.
  explicit ClockAxis(const std::vector<trace::ClockSample>& samples,
                     const std::vector<trace::ClockSample>& records = {});

  // Uses the sample of this block for the following times.
  void enter_block(const trace::ClockSample& sample);

  // Converts a time on CUPTI's clock. Valid if the wall clock was not set.
  std::int64_t from_cupti(std::uint64_t cupti_ns) const {
    const std::int64_t time_ns = moved(cupti_ns, cupti_);
    return time_ns >= earliest_ns_ && time_ns <= latest_ns_ ? time_ns : in_another_base(cupti_ns, time_ns);
  }
  std::int64_t from_mono(std::uint64_t mono_ns) const { return moved(mono_ns, mono_); }
  std::uint64_t stepped_blocks() const { return stepped_blocks_; }

  bool was_set() const { return !steps_.empty(); }
  struct Step {
    std::int64_t after_ns;  // the last sample before it, on the axis
    std::int64_t by_ns;
  };
  const std::vector<Step>& steps() const { return steps_; }

  // Converts both ends of a CUPTI interval if the wall clock was set.
  SetClock::Interval from_cupti(const CuptiTimes& times) const;
  // CUPTI's clock, to learn when it was set.
  SetClock& set_clock() { return set_clock_; }

 private:
  // A period in which the wall clock was not set.
  struct Era {
    trace::ClockSample tightest;
    trace::ClockSample with_cupti;  // the most exact sample with CUPTI's clock; cupti_ns is 0 if there is none
    std::uint64_t first_mono_ns, last_mono_ns;
    std::size_t samples = 0;
  };
  static std::int64_t moved(std::uint64_t time_ns, std::int64_t offset_ns) {
    return static_cast<std::int64_t>(time_ns + static_cast<std::uint64_t>(offset_ns));
  }
  void find_bases(const std::vector<trace::ClockSample>& samples);
  // Uses the samples of this era; all samples if null.
  void find_offsets(const std::vector<trace::ClockSample>& samples, const Era* era);
  void find_steps(const std::vector<Era>& eras);
  static std::vector<Era> eras_of(std::vector<trace::ClockSample> samples);
  std::int64_t in_another_base(std::uint64_t cupti_ns, std::int64_t time_ns) const;
  std::int64_t file_cupti_ = 0, file_mono_ = 0;  // added to times
  std::int64_t cupti_ = 0, mono_ = 0;            // added to times of the current block
  std::int64_t earliest_ns_ = INT64_MIN, latest_ns_ = INT64_MAX;
  std::vector<std::int64_t> bases_;  // distinct offsets of CUPTI's clock in the samples
  std::uint64_t stepped_blocks_ = 0;
  std::vector<Step> steps_;
  SetClock set_clock_;
};

}  // namespace cli::ring
