// From CUPTI's clock and CLOCK_MONOTONIC to the wall clock of the host, by the samples of a recording.
#pragma once
#include <cstdint>
#include <vector>

#include "common/layout.h"

namespace cli {

// Both offsets are constant as long as nobody steps a clock, while single samples scatter by their brackets. So the
// offset of the tightest sample holds for the whole file, except in blocks whose own sample differs by more than
// kStep_ns and its own bracket: there the wall clock or CUPTI's time base was changed, and the block's own sample holds.
// A profiler in the process may change the base between two samples of one block: a time that would lie an hour outside
// the recording is taken in that of its bases in which it does not. Samples after the year 2116 are damaged and not used;
// a damaged time becomes some other time, without undefined behaviour.
class ClockAxis {
 public:
  static constexpr std::int64_t kStep_ns = 50'000;

  explicit ClockAxis(const std::vector<trace::ClockSample>& samples);

  // Use the sample of this block for what follows.
  void enter_block(const trace::ClockSample& sample);

  std::int64_t from_cupti(std::uint64_t cupti_ns) const {
    const std::int64_t time_ns = moved(cupti_ns, cupti_);
    return time_ns >= earliest_ns_ && time_ns <= latest_ns_ ? time_ns : in_another_base(cupti_ns, time_ns);
  }
  std::int64_t from_mono(std::uint64_t mono_ns) const { return moved(mono_ns, mono_); }
  std::uint64_t stepped_blocks() const { return stepped_blocks_; }

 private:
  static std::int64_t moved(std::uint64_t time_ns, std::int64_t offset_ns) {
    return static_cast<std::int64_t>(time_ns + static_cast<std::uint64_t>(offset_ns));
  }
  std::int64_t in_another_base(std::uint64_t cupti_ns, std::int64_t time_ns) const;

  std::int64_t file_cupti_ = 0, file_mono_ = 0;  // what is added
  std::int64_t cupti_ = 0, mono_ = 0;            // in the current block
  std::int64_t earliest_ns_ = INT64_MIN, latest_ns_ = INT64_MAX;
  std::vector<std::int64_t> bases_;  // the different offsets of CUPTI's clock that samples show
  std::uint64_t stepped_blocks_ = 0;
};

}  // namespace cli
