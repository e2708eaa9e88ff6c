// Selects the kinds of CUPTI records: the rows of kTranslators that TRACETOOL_EVENTS requests.
#pragma once

namespace agent {

// Enables the kinds. A kind refused by this device or library is reported and skipped. Returns CUPTI_SUCCESS if any
// kind could be enabled or none is wanted, otherwise the last refusal (a CUptiResult). Called on our own thread, when
// CUDA may already be in use; CUPTI then also reports existing contexts and streams.
int enable_kinds() noexcept;
// Enables kinds again that another CUPTI user in the process may have disabled. Prints nothing.
void enable_kinds_again() noexcept;
// Disables all kinds, so that others can use CUPTI.
void disable_kinds() noexcept;
// Yields CUPTI to another user that has the buffers now and may be in the middle of a session: disables the kinds that
// only the agent uses. A kind has one switch for the whole process, and CUPTI does not report who enabled it. Kinds
// that torch.profiler enables at the start of each session therefore stay enabled, because disabling them would remove
// them from the user's profile; torch.profiler disables them itself at the end. For our own thread.
void disable_kinds_of_ours() noexcept;
// For the cost guard: permanently disables everything except the `light` set. For our own thread.
void reduce_to_light() noexcept;

}  // namespace agent
