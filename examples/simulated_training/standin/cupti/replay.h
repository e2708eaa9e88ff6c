// Delivers the records of a report (SIM_CUPTI_REPLAY), written by replay/nsys_replay.py.
#pragma once
#include <cstdint>

namespace sim {

// Numbers of replayed events begin here; then comes the number of the record in the file, from 1.
inline constexpr std::uint64_t kFirstReplayed = std::uint64_t{1} << 32;

// Delivers each thread of the report in a thread of its own. The calling thread is the first. Prints one line. Returns
// false if the file does not exist or a record in it is malformed.
bool replay();

}  // namespace sim
