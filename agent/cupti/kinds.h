// Which kinds of records CUPTI is asked for: the rows of kTranslators that TRACETOOL_EVENTS wants.
#pragma once

namespace agent {

// A kind that this device or library refuses is said and left out. CUPTI_SUCCESS when any could be enabled, or none is
// wanted, else the last refusal (a CUptiResult). On our own thread, CUDA may be in use already: contexts and streams
// that exist are told too.
int enable_kinds() noexcept;
// Switches on again what another user of CUPTI in the process may have switched off. Says nothing.
void enable_kinds_again() noexcept;
// Leaves CUPTI to others.
void disable_kinds() noexcept;
// For the cost guard: leaves on only what the `light` set has, for good. For our own thread.
void reduce_to_light() noexcept;

}  // namespace agent
