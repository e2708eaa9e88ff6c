// External correlation: ids that a client pushes on a thread go, with the number of each call that it makes, into
// records of their own.
#pragma once
#include <cstdint>

namespace sim {

// The innermost id of each kind that the calling thread has pushed.
void emit_external(std::uint32_t correlation);

}  // namespace sim
