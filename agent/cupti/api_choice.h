// Selects the API calls to record. Runtime calls: all except those that training loops make continually and that
// contain no timing information; calls that record a CUDA event only if events are requested. Driver calls: those that
// launch, copy, set, allocate, load or wait. (PyTorch's runtime calls would each add their driver call as a duplicate;
// Triton and torch.compile launch only through the driver.)
#pragma once
#include <cupti.h>

#include <cstdint>

#include "common/record.h"

namespace agent {

// Names of CUDA functions by CUPTI's callback ids, queried once at the start (40 us for the 1,300 of CUPTI 13.0).
// Records are translated under a lock, while CUPTI may hold one of its own, so CUPTI cannot be queried then.

// Queries the names, before the first record can arrive. Later calls do nothing.
void learn_api_names() noexcept;
// Returns "cudaLaunchKernel_v7000" for trace::RuntimeRecord::kKind, "cuLaunchKernel" for trace::DriverRecord::kKind; ""
// if it has no name.
const char* api_name(trace::RecordKind domain, std::uint32_t cbid) noexcept;

// Enables the chosen driver calls one by one. Returns false if this CUPTI cannot; the kind has to be enabled then.
bool choose_driver_calls() noexcept;
// Reverts it. Returns false if this CUPTI cannot; the kind has to be disabled then.
bool leave_driver_calls() noexcept;
// Excludes unneeded runtime calls, if this CUPTI can.
void deny_runtime_noise() noexcept;
// Returns true if the record is a call that was not chosen: CUPTI before 12.5 records a kind completely or not at all.
bool is_left_out(const CUpti_Activity* activity) noexcept;

// Queries of events and streams are no synchronizations, but CUPTI makes synchronization records for them, one for each
// query of a polling loop. CUPTI 12.8 and newer can exclude those that found unfinished work
// (cuptiActivityEnableAllSyncRecords). For older versions they are detected here: the record of the call has the same
// correlation id and is in the same buffer or an earlier one. If it is in the next buffer, the query remains a
// synchronization: at most one per buffer.

// Makes CUPTI exclude them. Called before the kinds are enabled.
void leave_out_queries() noexcept;
// Reverts it for another CUPTI user, because it applies to the whole process.
void leave_in_queries() noexcept;
// Returns true if CUPTI cannot exclude them: each buffer is then searched first, for which the calls have to be
// recorded.
bool has_to_find_queries() noexcept;
bool is_query_call(CUpti_ActivityKind kind, CUpti_CallbackId id) noexcept;

// Called for each record of a buffer before any of them is translated, if has_to_find_queries(). Under the lock of the
// translation, like is_query_wait().
void find_query(const CUpti_Activity* activity) noexcept;
// Returns true if this is the synchronization record of a query that find_query() has seen.
bool is_query_wait(const CUpti_Activity* activity) noexcept;

}  // namespace agent
