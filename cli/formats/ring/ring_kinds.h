// The kind of event that a kind of record counts as.
#pragma once
#include <cstdint>

#include "cli/trace/event.h"

namespace cli {

// Kind::count_ for records that are none (range ends, clocks, definitions, CUDA events: they have no time, and
// what waits for one, and the call that recorded it, have what it says).
Kind event_kind(std::uint8_t record_kind);

}  // namespace cli
