// Limits the agent's cost to the host: over ten seconds, TRACETOOL_GUARD_CPU percent of a core, including the threads
// that CUPTI started, and TRACETOOL_GUARD_RATE records per second. Beyond a limit, only the `light` set is recorded;
// this is reported once, and recorded.
#pragma once

namespace agent {

// A periodic task of our own thread, about once a second.
void guard_cost() noexcept;

}  // namespace agent
