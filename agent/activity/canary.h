// A call without effect (cuDriverGetVersion) that our thread makes about once a second, to see whether its record comes
// back: the only way to notice that the buffers go to another user of CUPTI, which tells nobody. For our own thread.
//
// One that does not return proves nothing yet: it may lie in a buffer that a long kernel holds, have been dropped, or
// somebody switched the kind off. So it is switched on again and sent again, and only when several are gone with nothing
// else to explain it, the buffers are. And only where one has come back before: a CUPTI that never tells of the call
// would else look like one whose buffers were taken, in every process.
#pragma once
#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "agent/activity/cupti_source.h"
#include "agent/ring/recorder.h"

namespace agent {

// Calls that the agent's own thread makes into CUDA: left out of the recording. One of them is the canary (canary.h),
// which CUPTI can only be asked to record for all threads: the others' calls of it are left out as well.
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

// Has CUPTI record the call, by any thread. False: this CUPTI cannot enable calls one by one, and there is no canary.
bool enable_canary() noexcept;

// Has CUPTI not record it any more.
void disable_canary() noexcept;

enum class CanarySays { ours, wait, lost };
// Sends the next one when it is time.
CanarySays watch_canary() noexcept;
// After the last flush, which returns whatever is ours: false where one is out that must have come, as others did,
// and did not.
bool canary_came_home() noexcept;
// Forgets what did not come back, and sends one.
void send_new_canary() noexcept;

}  // namespace agent
