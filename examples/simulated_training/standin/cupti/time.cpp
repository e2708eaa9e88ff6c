// CUPTI's clock: the simulated host's CLOCK_REALTIME, or the client's own.
#include "../true_clock.h"
#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

std::atomic<CUpti_TimestampCallbackFunc> s_callback{nullptr};
std::atomic<bool> s_system_ids{false};

}  // namespace

// With a client's clock a moment in the past is as far behind its clock as it is behind the true one.
std::uint64_t to_cupti(std::uint64_t ns) {
  if (const auto callback = s_callback.load(std::memory_order_relaxed)) return callback() - (true_ns() - ns);
  return simulated_host_real_ns != nullptr ? simulated_host_real_ns(ns) : ns;
}

bool system_thread_ids() { return s_system_ids.load(std::memory_order_relaxed); }

}  // namespace sim

using namespace sim;

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  check_not_torn_down(__func__);
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = to_cupti(true_ns());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  SIM_NEED_DRIVER();
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  s_callback.store(callback);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  SIM_NEED_DRIVER();
  if (type > CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) return CUPTI_ERROR_NOT_SUPPORTED;
  const bool system = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  if (callbacks_registered() && system != system_thread_ids())
    break_off("the thread id type was changed during a profiling session");
  s_system_ids.store(system);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *type = system_thread_ids() ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}
