// Which API calls are worth a record. Runtime calls: all but those that training loops make without end and that say
// nothing about time; those that record a CUDA event only where events are wanted. Driver calls: those that launch, copy, set, allocate, load or wait; PyTorch's runtime calls would
// each bring their driver call as a double, Triton and torch.compile launch by the driver alone.
#pragma once
#include <cupti.h>

#include <cstdint>

#include "common/record.h"

namespace agent {

// The names of CUDA's functions, by CUPTI's callback ids: asked for once, at the start (40 us for the 1,300 of CUPTI
// 13.0). Records are translated under a lock, with CUPTI perhaps holding one of its own: nothing may be asked of it
// there.

// Before the first record can come. Later calls do nothing.
void learn_api_names() noexcept;
// "cudaLaunchKernel_v7000" of trace::RuntimeRecord::kKind, "cuLaunchKernel" of trace::DriverRecord::kKind; "" where it has none.
const char* api_name(trace::RecordKind domain, std::uint32_t cbid) noexcept;

// True: the chosen driver calls are enabled one by one. False: this CUPTI cannot; enable the kind.
bool choose_driver_calls() noexcept;
// Takes that back. False: this CUPTI cannot; disable the kind.
bool leave_driver_calls() noexcept;
// Leaves the noise out, where this CUPTI can.
void deny_runtime_noise() noexcept;
// Whether it is a call that nobody chose: CUPTI before 12.5 records a kind as a whole or not at all.
bool is_left_out(const CUpti_Activity* activity) noexcept;

// Queries of events and streams are no waits, but CUPTI makes synchronization records of them, of each try of a loop
// that polls. CUPTI 12.8 and newer leaves those out that found their work unfinished, where it is told so
// (cuptiActivityEnableAllSyncRecords). Before, they are recognised here: the record of the call has the same
// correlation id, and lies in the same buffer or in one before it. Where it comes in the next one, the query stays a wait:
// one for each buffer at most.

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
