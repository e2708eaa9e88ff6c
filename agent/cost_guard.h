// The agent's promise not to slow the host: over ten seconds, no more than TRACETOOL_GUARD_CPU percent of a core, with the
// threads that CUPTI started, and
// TRACETOOL_GUARD_RATE records a second; beyond it, only what the `light` set records, said once and written down.
#pragma once

namespace agent {

// A periodic task of our own thread, about once a second.
void guard_cost() noexcept;

}  // namespace agent
