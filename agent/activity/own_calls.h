// Calls that the agent's own thread makes into CUDA: left out of the recording. One of them is the canary (canary.h),
// which CUPTI can only be asked to record for all threads: the others' calls of it are left out as well.
#pragma once
#include <cupti.h>

#include <atomic>

#include "agent/activity/cupti_source.h"
#include "agent/ring/recorder.h"

namespace agent {

inline constinit std::atomic<std::uint32_t> s_own_thread{0};      // as CUPTI numbers threads; 0: none yet
inline constinit std::atomic<std::uint64_t> s_canaries_seen{0};

// Called once by our thread, on itself.
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

}  // namespace agent
