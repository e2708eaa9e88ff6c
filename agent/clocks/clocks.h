// The three clocks, read together. CLOCK_MONOTONIC is the clock of host records; CUPTI's own clock (on Linux
// CLOCK_REALTIME, unless somebody registered another) is that of its records.
#pragma once
#include <cstdint>

#include "agent/clocks/cupti_clock.h"
#include "common/layout.h"

namespace agent {

// How long leaving may take: one limit for all that still has to be brought home, however many disks and drivers hang.

// Called when the process begins to leave.
void begin_exit() noexcept;
// Milliseconds that are left of the limit, at most `most_ms`; all of it while the process is not leaving.
std::uint64_t exit_ms_left(std::uint64_t most_ms) noexcept;

std::uint64_t mono_ns() noexcept;
std::uint64_t real_ns() noexcept;

// How CUPTI's clock is read; false: it cannot be now. Before it is told there is none.
using ReadCuptiClock = bool (*)(std::uint64_t& cupti_ns);
void set_cupti_clock(ReadCuptiClock read) noexcept;

// Reads CUPTI's clock between two readings of CLOCK_MONOTONIC and keeps the closest of a few tries; in our clock where
// CUPTI's is foreign (cupti_clock.h). It calls into CUPTI: not in a launch, and not under a lock of ours.
trace::ClockSample sample_clocks() noexcept;

// Of CUPTI's clock, as the last samples showed it. For any thread but those in a launch.
bool cupti_clock_is_ours() noexcept;
TimeWindow cupti_window() noexcept;
std::uint64_t from_foreign_cupti(std::uint64_t cupti_ns) noexcept;

// Whether CUPTI's time base was changed between two samples: it went neither with CLOCK_MONOTONIC nor, where the wall
// clock was set, with CLOCK_REALTIME.
bool is_time_base_changed(const trace::ClockSample& before, const trace::ClockSample& after) noexcept;

// Whether somebody set CLOCK_REALTIME between two samples.
bool is_wall_clock_set(const trace::ClockSample& before, const trace::ClockSample& after) noexcept;

// What sample_clocks() saw last, carried on to now. For any thread: two clock_gettime, no call into CUPTI.
trace::ClockSample carried_clocks() noexcept;

}  // namespace agent
