// A call without effect (cuDriverGetVersion) that our thread makes about once a second, to check whether its record is
// delivered. This is the only way to notice that another CUPTI user has taken the buffers, which CUPTI does not report.
// For our own thread.
//
// One missing record proves nothing: it may be in a buffer that a long kernel holds back, it may have been dropped, or
// its kind may have been disabled. The kind is therefore enabled again and the call repeated. Only if several records
// are missing without another explanation, the buffers are considered taken; and only if a record was delivered before,
// because a CUPTI that never reports the call would otherwise look as if its buffers were taken in every process.
#pragma once
#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "agent/activity/cupti_source.h"
#include "agent/ring/recorder.h"

namespace agent {

// CUDA calls of the agent's own thread, which are not recorded. One of them is the canary (canary.h). CUPTI can record
// it only for all threads, so calls of other threads to this function are not recorded either.
inline constinit std::atomic<std::uint32_t> s_own_thread{0};  // thread id as in CUPTI; 0 if none yet
inline constinit std::atomic<std::uint64_t> s_canaries_seen{0};

// Called once by our thread, to register itself.
inline void mark_own_thread() noexcept { s_own_thread.store(thread_id(), std::memory_order_relaxed); }
inline bool is_own_thread() noexcept { return s_own_thread.load(std::memory_order_relaxed) == thread_id(); }

inline bool is_own_call(const CUpti_Activity* activity) noexcept {
  if (activity->kind != CUPTI_ACTIVITY_KIND_DRIVER && activity->kind != CUPTI_ACTIVITY_KIND_RUNTIME) return false;
  const auto& call = *reinterpret_cast<const CUpti_ActivityAPI*>(activity);
  const bool own = call.threadId == s_own_thread.load(std::memory_order_relaxed);
  const bool canary =
      activity->kind == CUPTI_ACTIVITY_KIND_DRIVER && call.cbid == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion;
  if (own && canary) s_canaries_seen.fetch_add(1, std::memory_order_relaxed);
  return own || (canary && canary_is_enabled());
}

// Enables the record of the call, for all threads. Returns false if this CUPTI cannot enable single calls; there is no
// canary then.
bool enable_canary() noexcept;

// Disables the record of the call.
void disable_canary() noexcept;

enum class CanarySays { ours, wait, lost };
// Sends the next canary if it is due.
CanarySays watch_canary() noexcept;
// Returns false if a canary that must have been delivered is missing, although others were delivered. Called after the
// last flush, which returns all of our records.
bool canary_came_home() noexcept;
// Forgets missing canaries and sends a new one.
void send_new_canary() noexcept;

}  // namespace agent
