// The three clocks, read together. CLOCK_MONOTONIC is the clock of host records; CUPTI's own clock (on Linux
// CLOCK_REALTIME, unless somebody registered another) is that of its records.
#pragma once
#include <cstdint>

#include "common/layout.h"

namespace agent {

std::uint64_t mono_ns() noexcept;
std::uint64_t real_ns() noexcept;

// Reads CUPTI's clock between two readings of CLOCK_MONOTONIC and keeps the closest of a few tries. For our own thread:
// it calls into CUPTI.
trace::ClockSample sample_clocks() noexcept;

// Whether CUPTI's time base was changed between two samples: it went neither with CLOCK_MONOTONIC nor, where the wall
// clock was set, with CLOCK_REALTIME.
bool is_time_base_changed(const trace::ClockSample& before, const trace::ClockSample& after) noexcept;

// What sample_clocks() saw last, carried on to now. For any thread: two clock_gettime, no call into CUPTI.
trace::ClockSample carried_clocks() noexcept;

}  // namespace agent
