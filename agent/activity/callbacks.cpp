#include "agent/activity/callbacks.h"

#include <atomic>
#include <initializer_list>

#include "agent/activity/cupti_source.h"
#include "agent/base/life.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/graph_nodes.h"
#include "agent/native/call_stacks.h"

namespace agent {
namespace {

void on_resource(CUpti_CallbackId id) {
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    static constinit std::atomic<bool> s_any{false};
    const Guard guard;
    if (guard && begin_recording(guard) && !s_any.exchange(true)) exit_before_driver();
  }
  // Requests an early collection of CUPTI's records, in case the process ends without an exit. They are not collected
  // here: cupti_activity.h forbids cuptiActivityFlushAll in callbacks other than those of API calls.
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) wake_flusher();
}

// CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR and CUpti_StateData of CUDA 12.2; older headers lack them.
constexpr auto kStateDomain = static_cast<CUpti_CallbackDomain>(6);
constexpr CUpti_CallbackId kFatalError = 1;
struct StateData {
  CUptiResult result;
  const char* message;
};

void on_fatal(const StateData& state) {
  const Guard guard;
  if (guard) on_cupti_fatal(guard, state.result, state.message);
}

}  // namespace

void CUPTIAPI on_cupti_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if ((domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) && data != nullptr)
    return on_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) on_resource(id);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && data != nullptr)
    on_graph_callback(id, *static_cast<const CUpti_ResourceData*>(data));
  if (domain == kStateDomain && id == kFatalError && data != nullptr) on_fatal(*static_cast<const StateData*>(data));
}

CUptiResult enable_callbacks(CUpti_SubscriberHandle subscriber) noexcept {
  for (const CUpti_CallbackId id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
    const CUptiResult result = cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (result != CUPTI_SUCCESS) return result;
  }
  cupti().enable_callback(1, subscriber, kStateDomain, kFatalError);
  enable_graph_callbacks(subscriber);
  enable_stack_callbacks(subscriber);
  return CUPTI_SUCCESS;
}

}  // namespace agent
