// Queries of events and streams are no waits, but CUPTI makes synchronization records of them, of each try of a loop
// that polls. CUPTI 12.8 and newer leaves those out that found their work unfinished, where it is told so
// (cuptiActivityEnableAllSyncRecords). Before, they are recognised here: the record of the call has the same
// correlation id, and lies in the same buffer or in one before it. Where it comes in the next one, the query stays a wait:
// one for each buffer at most.
#pragma once
#include <cupti.h>

namespace agent {

// Asks CUPTI to leave them out. Before the kinds are enabled.
void leave_out_queries() noexcept;
// Takes that back, for another user of CUPTI: it is so for the whole process.
void leave_in_queries() noexcept;
// CUPTI cannot: each buffer is looked through first, for which the calls have to be recorded.
bool has_to_find_queries() noexcept;
bool is_query_call(CUpti_ActivityKind kind, CUpti_CallbackId id) noexcept;

// For each record of a buffer, before any of them is translated, where has_to_find_queries(). Under the lock of the
// translation, as is_query_wait().
void find_query(const CUpti_Activity* activity) noexcept;
// Whether it is the synchronization record of a query that find_query() has seen.
bool is_query_wait(const CUpti_Activity* activity) noexcept;

}  // namespace agent
