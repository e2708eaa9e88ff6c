// The gaps of a device in which it had nothing to do (analyze/gpu_intervals.h), written.
//
// A gap below kShortest_ns is not written: back-to-back kernels of one stream are about a microsecond apart, so such gaps
// say nothing and would double the export. None is lost to a sum: the next slice that is written says how many came
// before it and how long they are together ("short_gaps", "short_gaps_ns").
#pragma once
#include <cstdint>

#include "cli/answers/derived/track_out.h"

namespace cli {

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

}  // namespace cli
