// Delivers the records of a report (SIM_CUPTI_REPLAY), which replay/nsys_replay.py has written to a file.
#pragma once
#include <cstdint>

namespace sim {

// Numbers of replayed events begin here; then comes the number of the record in the file, from 1.
inline constexpr std::uint64_t kFirstReplayed = std::uint64_t{1} << 32;

// In a thread for each of the report's, the calling one being the first. Prints one line. Returns false if there is no such
// file, or a record in it is malformed.
bool replay();

}  // namespace sim
