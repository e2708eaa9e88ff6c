// What really happened, one JSON line per event, in the file that SIM_TRUTH names (nothing without it). README.md of
// the simulated training describes the lines. Lines wait in memory until flush_truth(): always before CUPTI hands a
// buffer over and before an NVTX call, so that after SIGKILL the file holds all that an agent can have seen; and every
// millisecond while work ends, so that it holds what the device had done too.
#pragma once
#include <cstdint>
#include <string_view>

#include "../events.h"

namespace sim {

bool truth_wanted();
void write_truth(std::string_view line);
void flush_truth();
void write_truth_of(const DeviceEvent&);
void write_truth_of(const CallEvent&);
void write_truth_of(const Note&);
std::uint64_t next_seq();

}  // namespace sim
