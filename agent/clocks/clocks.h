// Reads the three clocks together. CLOCK_MONOTONIC is the clock of host records. CUPTI's own clock (on Linux
// CLOCK_REALTIME, unless another one was registered) is that of CUPTI's records.
#pragma once
#include <cstdint>

#include "agent/clocks/cupti_clock.h"
#include "common/layout.h"

namespace agent {

// Time limit of the process's exit: one limit for all remaining work, however many disks and drivers hang.

// Called when the process begins to exit.
void begin_exit() noexcept;
// Returns the remaining milliseconds of the limit, at most `most_ms`; `most_ms` if the process is not exiting.
std::uint64_t exit_ms_left(std::uint64_t most_ms) noexcept;

std::uint64_t mono_ns() noexcept;
std::uint64_t real_ns() noexcept;

// Reads CUPTI's clock; returns false if it cannot be read now. No clock is available before set_cupti_clock().
using ReadCuptiClock = bool (*)(std::uint64_t& cupti_ns);
void set_cupti_clock(ReadCuptiClock read) noexcept;

// Reads CUPTI's clock between two readings of CLOCK_MONOTONIC and returns the closest of a few tries, converted to our
// clock if CUPTI's is foreign (cupti_clock.h). Calls CUPTI: not during a launch, and not under a lock of ours.
trace::ClockSample sample_clocks() noexcept;

// State of CUPTI's clock at the last sample. For any thread except during a launch.
bool cupti_clock_is_ours() noexcept;
TimeWindow cupti_window() noexcept;
std::uint64_t from_foreign_cupti(std::uint64_t cupti_ns) noexcept;

// Returns true if CUPTI's time base changed between two samples: it followed neither CLOCK_MONOTONIC nor, if the wall
// clock was set, CLOCK_REALTIME.
bool is_time_base_changed(const trace::ClockSample& before, const trace::ClockSample& after) noexcept;

// Returns true if CLOCK_REALTIME was set between two samples.
bool is_wall_clock_set(const trace::ClockSample& before, const trace::ClockSample& after) noexcept;

// Returns the last result of sample_clocks(), advanced to now. For any thread: two clock_gettime calls, no call of
// CUPTI.
trace::ClockSample carried_clocks() noexcept;

}  // namespace agent
