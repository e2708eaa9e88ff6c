// Where the computed rows of one device, or of a process, go.
#pragma once
#include <cstdint>

#include "cli/model/derived.h"

namespace cli {

struct RowOut {
  DerivedSink* sink = nullptr;
  ProcessId process = 0;
  std::int64_t device = -1;

  void slice(DerivedRow row, std::int64_t start_ns, std::int64_t end_ns, const DerivedFacts& facts) const {
    sink->derived({process, row, device, start_ns, end_ns - start_ns, 0, facts});
  }
  void value(DerivedRow row, std::int64_t ns, double value) const {
    sink->derived({process, row, device, ns, 0, value, {}});
  }
};

}  // namespace cli
