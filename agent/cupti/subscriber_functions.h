// CUPTI's functions of version 2 (CUDA 13.3, driver r610), which name the subscriber that they are of: several may be there
// at once, each with its own buffers, kinds, calls, attributes and clock. Here they have the form of those of version 1, of
// which they take the places in the table, so that nothing else in the agent has to know which ones it calls.
//
// Bound by name; what cupti_activity.h and cupti_callbacks.h of 13.5 declare, as far as it is needed, because the headers
// that the agent is built with are older. The two versions must not be mixed: CUPTI answers CUPTI_ERROR_NOT_COMPATIBLE or
// CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED then, to whoever comes second.
#pragma once
#include "agent/cupti/cupti_library.h"

namespace agent {

// Puts them into a copy of the table of version 1. Returns the name of one that the library lacks, else null.
const char* find_subscriber_functions(void* library, CuptiLibrary& table) noexcept;

// The name of CUPTI's first subscriber, as CUPTI told it at the last subscription, which may have failed; "" if it did not.
const char* first_subscriber() noexcept;

// What must work before any record is asked for: the clock, and the system's numbers of threads. Of the two results the
// first that is not CUPTI_SUCCESS.
CUptiResult try_subscriber_functions() noexcept;

// Launches of CUDA graphs are told whole, or node by node, to all subscribers alike, as the first that chose has it.
// Chooses what TRACETOOL_EVENTS wants, before any kind is enabled, and says where it has been chosen otherwise.
void choose_graph_level() noexcept;

// Whether another subscriber has any kind of records on, for which ours must be off. Also true where CUPTI does not tell.
bool others_record() noexcept;

}  // namespace agent
