// CUPTI's functions of version 2 (CUDA 13.3, driver r610), which have a subscriber argument: several subscribers can be
// active at once, each with its own buffers, kinds, calls, attributes and clock. They are adapted to the signatures of
// version 1 and replace those in the table, so that the rest of the agent does not depend on the version.
//
// They are found by name. The required declarations of cupti_activity.h and cupti_callbacks.h of 13.5 are repeated
// here, because the agent is built with older headers. The two versions cannot be mixed: CUPTI returns
// CUPTI_ERROR_NOT_COMPATIBLE or CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED to the second user then.
#pragma once
#include "agent/cupti/cupti_library.h"

namespace agent {

// Puts them into a copy of the table of version 1. Returns the name of a function that the library lacks, otherwise
// null.
const char* find_subscriber_functions(void* library, CuptiLibrary& table) noexcept;

// Returns the name of CUPTI's first subscriber, as reported at the last subscription, which may have failed; "" if it
// was not reported.
const char* first_subscriber() noexcept;

// Tests the functions that must work before any record is requested: the clock, and thread ids of the system. Returns
// the first result other than CUPTI_SUCCESS.
CUptiResult try_subscriber_functions() noexcept;

// Chooses the level that TRACETOOL_EVENTS requests, before any kind is enabled. CUPTI records launches of CUDA graphs
// as a whole, or node by node, for all subscribers alike, as chosen by the first one; a different choice is reported.
void choose_graph_level() noexcept;

// Returns true if another subscriber has enabled any kind of records, so that ours must be off. Also true if CUPTI does
// not report it.
bool others_record() noexcept;

}  // namespace agent
