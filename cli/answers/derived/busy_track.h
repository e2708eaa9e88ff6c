// How much of each window a device had any work: 100 * union of its work / window. Windows end at multiples of one
// length on the axis, so that they are the same for all ranks; the first begins with the first work, the last ends with
// the last, and a cut parts one in two.
#pragma once
#include <cstdint>
#include <limits>

#include "cli/trace/catalog.h"
#include "cli/answers/derived/counter_track.h"
#include "cli/answers/derived/track_out.h"

namespace cli {

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

}  // namespace cli
