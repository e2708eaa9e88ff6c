// `merge --report`:
// {"hosts":[{"host","ranks","offset_ns","drift_ppm","samples","mad_ns","bound_ns":[lo,hi],"method"}]}; what is unknown
// is null.
#pragma once
#include <vector>

#include "cli/io/byte_sink.h"
#include "cli/model/clock_fit.h"

namespace cli {

void write_clock_report(const std::vector<ClockFit>& fits, ByteSink& sink);

}  // namespace cli
