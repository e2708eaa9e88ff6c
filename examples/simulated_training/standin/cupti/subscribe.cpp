// Subscription and callbacks: one subscriber, and only what it enabled.
#include <cstdio>
#include <mutex>
#include <span>

#include "state.h"

namespace sim {
namespace {

// Flags that application threads read at every call, by callback id.
std::atomic<bool> s_driver[CUPTI_DRIVER_TRACE_CBID_SIZE];
std::atomic<bool> s_runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];
std::atomic<bool> s_resource[CUPTI_CBID_RESOURCE_SIZE];
std::atomic<bool> s_synchronize[CUPTI_CBID_SYNCHRONIZE_SIZE];
#if CUPTI_API_VERSION >= 21  // CUDA 12.3
std::atomic<bool> s_state[CUPTI_CBID_STATE_SIZE];
#endif
std::mutex s_mutex;
std::atomic<Subscriber*> s_current{nullptr};

// Empty: no such domain.
std::span<std::atomic<bool>> flags_of(CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return s_driver;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return s_runtime;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return s_resource;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return s_synchronize;
#if CUPTI_API_VERSION >= 21
    case CUPTI_CB_DOMAIN_STATE:
      return s_state;
#endif
    default:
      return {};
  }
}

void set_all(CUpti_CallbackDomain domain, bool on) {
  for (std::atomic<bool>& flag : flags_of(domain)) flag.store(on);
}

void set_all_domains(bool on) {
  for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    set_all(static_cast<CUpti_CallbackDomain>(domain), on);
  }
}

// cupti_callbacks.h: "a subscriber must serialize access to cuptiGetCallbackState, cuptiEnableCallback,
// cuptiEnableDomain, and cuptiEnableAllDomains".
constexpr char kSerialize[] = "two threads were in functions of cuptiEnableCallback's family at once";

bool is_current(CUpti_SubscriberHandle handle) {
  return !is_dead() && handle != nullptr && reinterpret_cast<Subscriber*>(handle) == subscriber();
}

#if CUPTI_API_VERSION >= 130000
void tell_holder(CUpti_SubscriberParams* params) {
  if (params == nullptr || params->oldSubscriberName == nullptr) return;
  const Subscriber* known = subscriber();
  const char* holder = known != nullptr ? known->name : "CUPTI for another tool";
  std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", holder);
}
#endif

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user, const char* name) {
  SIM_NEED_DRIVER();
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(s_mutex);
  if (is_taken() || subscriber() != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  auto* made = new Subscriber{callback, user, {}};  // never deleted: a callback may still run with it
  std::snprintf(made->name, sizeof(made->name), "CUPTI for %.53s", name != nullptr ? name : "");
  s_current.store(made, std::memory_order_release);
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(made);
  return CUPTI_SUCCESS;
}

}  // namespace

Subscriber* subscriber() { return s_current.load(std::memory_order_acquire); }

std::uint32_t callback_count(CUpti_CallbackDomain domain) {
  return static_cast<std::uint32_t>(flags_of(domain).size());
}

bool callback_enabled(CUpti_CallbackDomain domain, std::uint32_t cbid) {
  return cbid < callback_count(domain) && flags_of(domain)[cbid].load(std::memory_order_relaxed);
}

void forget_subscriber() {
  s_current.store(nullptr, std::memory_order_release);
  set_all_domains(false);
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user) {
  return subscribe(handle, callback, user, nullptr);
}

#if CUPTI_API_VERSION >= 130000
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user,
                              CUpti_SubscriberParams* params) {
  SIM_NEED_DRIVER();
  if (params != nullptr && params->structSize == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  const CUptiResult result = subscribe(handle, callback, user, params != nullptr ? params->subscriberName : nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) tell_holder(params);
  return result;
}
#endif

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  check_not_torn_down(__func__);
  if (!is_current(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  forget_subscriber();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId cbid) {
  check_not_torn_down(__func__);
  const OneAtATime alone(kSerialize);
  if (!is_current(handle) || cbid == 0 || cbid >= callback_count(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  flags_of(domain)[cbid].store(enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain) {
  check_not_torn_down(__func__);
  const OneAtATime alone(kSerialize);
  if (!is_current(handle) || callback_count(domain) == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  set_all(domain, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(std::uint32_t enable, CUpti_SubscriberHandle handle) {
  check_not_torn_down(__func__);
  const OneAtATime alone(kSerialize);
  if (!is_current(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  set_all_domains(enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(std::uint32_t* enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                  CUpti_CallbackId cbid) {
  check_not_torn_down(__func__);
  const OneAtATime alone(kSerialize);
  if (enable == nullptr || !is_current(handle) || cbid >= callback_count(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  *enable = callback_enabled(domain, cbid) ? 1 : 0;
  return CUPTI_SUCCESS;
}
