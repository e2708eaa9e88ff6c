// What a record of CUPTI's tells of its times.
#pragma once
#include "cli/formats/ring/set_clock.h"

namespace cli {

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

}  // namespace cli
