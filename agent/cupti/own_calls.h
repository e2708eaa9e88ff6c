// Calls that the agent's own thread makes into CUDA: left out of the recording, and one of them is the canary.
//
// Another user of CUPTI in the same process (torch.profiler) may register its own buffer callbacks; from then on ours
// get nothing, and CUPTI tells nobody. So our thread makes a call without effect (cuDriverGetVersion) about once a
// second and looks whether its record comes back.
#pragma once
#include <cupti.h>

#include <atomic>

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
  if (call.threadId != s_own_thread.load(std::memory_order_relaxed)) return false;
  const bool canary = call.cbid == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion;
  if (canary && activity->kind == CUPTI_ACTIVITY_KIND_DRIVER) s_canaries_seen.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace agent
