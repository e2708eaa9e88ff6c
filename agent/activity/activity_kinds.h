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
// Leaves CUPTI to another user that has the buffers now and may be in the middle of its session: switches off what is ours
// alone. A kind has one switch for the whole process, and nobody can be asked who turned it: what torch.profiler
// switches on at each start of a session stays on, because to switch it off would take it from the user's profile, and
// torch.profiler switches it off itself at the end. For our own thread.
void disable_kinds_of_ours() noexcept;
// For the cost guard: leaves on only what the `light` set has, for good. For our own thread.
void reduce_to_light() noexcept;

}  // namespace agent
