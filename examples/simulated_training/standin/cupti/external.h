// External correlation: ids that a client pushes on a thread go, with the number of each call that it makes, into
// records of their own.
#pragma once
#include <cstdint>

#include "state.h"

namespace sim {

CUptiResult push_external(const Client& client, CUpti_ExternalCorrelationKind kind, std::uint64_t id);
CUptiResult pop_external(const Client& client, CUpti_ExternalCorrelationKind kind, std::uint64_t* last);

// The innermost id of each kind that the calling thread has pushed, for each client that asked.
void emit_external(std::uint32_t correlation);

}  // namespace sim
