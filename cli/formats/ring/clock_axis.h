// From CUPTI's clock and CLOCK_MONOTONIC to the wall clock of the host, by the samples of a recording.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/layout.h"

namespace cli::ring {

// CUPTI's times where the wall clock, which CUPTI's clock goes with, was set while they were taken: on the one axis of
// the recording (clock_axis.h).
//
// A clock that is set forward leaves out times: where none lie, it was set. One that is set back says the same times twice. Then order
// tells: CUPTI numbers the calls of a process one by one, and the work of a stream begins in the order of its calls, so where times go
// back from one number to the next, the clock was set between the two.

// What a record tells, by CUPTI's clock.
struct CuptiTimes {
  static constexpr std::uint64_t kCalls = 0;
  std::uint64_t queue = kCalls;   // the stream of work; all calls are one
  std::uint32_t correlation = 0;  // 0: none
  std::uint64_t start_ns = 0, end_ns = 0;  // an end of 0 had not come
};

class SetClock {
 public:
  // Eras of CUPTI's clock, in their order: `offset_ns` is what is added for the axis; it began between these two times on the axis.
  void add_era(std::int64_t offset_ns, std::int64_t after_ns, std::int64_t before_ns);
  // Whether CUPTI's clock was set; else it is in no need of any of this.
  bool any() const { return eras_.size() > 1; }

  // May this tell when the clock was set?
  bool is_near(const CuptiTimes& times) const;
  // All that may, in any order.
  void learn(const std::vector<CuptiTimes>& all);

  struct Interval {
    std::int64_t start_ns, end_ns;  // 0: had not come
  };
  Interval on_axis(const CuptiTimes& times) const;

 private:
  struct Era {
    std::int64_t offset_ns;
    std::int64_t after_ns, before_ns;            // on the axis: it began between
    std::map<std::uint64_t, std::uint32_t> first;  // by queue: correlation of the first of this era, where it is known
    // By CUPTI's clock: its times lie between; and the same of it and those before, and those after.
    std::int64_t first_ns = 0, last_ns = 0, last_so_far_ns = 0, first_from_here_ns = 0;

    bool is_of(const CuptiTimes& times) const;
  };

  void find_windows();
  void find_gap(std::size_t era, const std::vector<const CuptiTimes*>& near);
  void find_order(std::size_t era, std::vector<const CuptiTimes*> near);
  void narrow(std::size_t era, std::int64_t before_cupti_ns, std::int64_t after_cupti_ns);
  // By CUPTI's clock: what may tell when this era began.
  bool is_near(const Era& era, const Era& before, const CuptiTimes& times) const;
  // Calls visit(era) for those that it may be of, else for the one that it lies closest to.
  template <typename Visit>
  void each_era(std::uint64_t cupti_ns, const Visit& visit) const;

  std::vector<Era> eras_;
};

// What a record of CUPTI's tells of its times.
template <typename Record>
concept TimedByCupti = requires(Record record) { record.start_cupti_ns; } || requires(Record record) { record.time_cupti_ns; };

template <TimedByCupti Record>
CuptiTimes cupti_times(const Record& record) {
  CuptiTimes times;
  if constexpr (requires { record.correlation; }) times.correlation = record.correlation;
  if constexpr (requires { record.time_cupti_ns; }) {
    times.start_ns = times.end_ns = record.time_cupti_ns;
  } else {
    if constexpr (requires { record.device; record.stream; }) times.queue = 1 + (std::uint64_t{record.device} << 32 | record.stream);
    times.start_ns = record.start_cupti_ns;
    if constexpr (requires { record.end_cupti_ns; }) {
      times.end_ns = record.end_cupti_ns;
    } else {
      times.end_ns = record.start_cupti_ns + record.duration_ns;
    }
  }
  return times;
}

// CLOCK_REALTIME - CLOCK_MONOTONIC is constant until somebody sets the wall clock: the kernel slews both together. Single samples
// scatter by their brackets. So the offset of the tightest sample holds for the whole file, except in blocks whose own sample
// differs by more than kStep_ns and its own bracket: there CUPTI's time base was changed, and the block's own sample holds.
// A profiler in the process may change the base between two samples of one block: a time that would lie an hour outside
// the recording is taken in that of its bases in which it does not. Samples after the year 2116 are damaged and not used;
// a damaged time becomes some other time, without undefined behaviour.
//
// Where the wall clock was set while the process was recorded, all its times are by the wall clock as it was set last: the axis is
// CLOCK_MONOTONIC and one offset, so that durations and order are those of the process, whatever was done to the clock. The
// last offset is taken because it is the same for all processes of the host, which share a clock: those that go on until the job
// ends have seen it, whenever they began and however much of their recordings was overwritten. It is that of heartbeats and of the time a
// recording was closed, and mostly the right one, as a clock is set because it was wrong. CUPTI's clock goes with the
// wall clock; its times are brought back to CLOCK_MONOTONIC by the samples of before and of after.
class ClockAxis {
 public:
  static constexpr std::int64_t kStep_ns = 50'000;

  // `samples`: of the header and of the blocks; `records`: more, which only tell when the wall clock was set.
  explicit ClockAxis(const std::vector<trace::ClockSample>& samples, const std::vector<trace::ClockSample>& records = {});

  // Use the sample of this block for what follows.
  void enter_block(const trace::ClockSample& sample);

  // While the wall clock was not set.
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

  // Where it was set: both ends of what CUPTI timed.
  SetClock::Interval from_cupti(const CuptiTimes& times) const;
  // CUPTI's clock, to learn when it was set.
  SetClock& set_clock() { return set_clock_; }

 private:
  // A time in which the wall clock was not set.
  struct Era {
    trace::ClockSample tightest;
    trace::ClockSample with_cupti;  // the tightest one that has CUPTI's clock; cupti_ns 0: none
    std::uint64_t first_mono_ns, last_mono_ns;
    std::size_t samples = 0;
  };
  static std::int64_t moved(std::uint64_t time_ns, std::int64_t offset_ns) {
    return static_cast<std::int64_t>(time_ns + static_cast<std::uint64_t>(offset_ns));
  }
  void find_bases(const std::vector<trace::ClockSample>& samples);
  // By the samples of this era; null: by all.
  void find_offsets(const std::vector<trace::ClockSample>& samples, const Era* era);
  void find_steps(const std::vector<Era>& eras);
  static std::vector<Era> eras_of(std::vector<trace::ClockSample> samples);
  std::int64_t in_another_base(std::uint64_t cupti_ns, std::int64_t time_ns) const;
  std::int64_t file_cupti_ = 0, file_mono_ = 0;  // what is added
  std::int64_t cupti_ = 0, mono_ = 0;            // in the current block
  std::int64_t earliest_ns_ = INT64_MIN, latest_ns_ = INT64_MAX;
  std::vector<std::int64_t> bases_;  // the different offsets of CUPTI's clock that samples show
  std::uint64_t stepped_blocks_ = 0;
  std::vector<Step> steps_;
  SetClock set_clock_;
};

}  // namespace cli::ring
