// From CUPTI's clock and CLOCK_MONOTONIC to the wall clock of the host, by the samples of a recording.
#pragma once
#include <cstdint>
#include <vector>

#include "common/layout.h"

namespace cli {

// Both offsets are constant as long as nobody steps a clock, while single samples scatter by their brackets. So the
// offset of the tightest sample holds for the whole file, except in blocks whose own sample differs by more than
// kStep_ns and its own bracket: there the wall clock or CUPTI's time base was changed, and the block's own sample holds.
class ClockAxis {
 public:
  static constexpr std::int64_t kStep_ns = 50'000;

  explicit ClockAxis(const std::vector<trace::ClockSample>& samples);

  // Use the sample of this block for what follows.
  void enter_block(const trace::ClockSample& sample);

  std::int64_t from_cupti(std::uint64_t cupti_ns) const { return static_cast<std::int64_t>(cupti_ns) + cupti_; }
  std::int64_t from_mono(std::uint64_t mono_ns) const { return static_cast<std::int64_t>(mono_ns) + mono_; }
  std::uint64_t stepped_blocks() const { return stepped_blocks_; }

 private:
  std::int64_t file_cupti_ = 0, file_mono_ = 0;  // what is added
  std::int64_t cupti_ = 0, mono_ = 0;            // in the current block
  std::uint64_t stepped_blocks_ = 0;
};

}  // namespace cli
