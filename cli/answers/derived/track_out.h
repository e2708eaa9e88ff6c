// Where the computed tracks of one device, or of a process, go.
#pragma once
#include <cstdint>

#include "cli/trace/derived.h"

namespace cli {

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

}  // namespace cli
