#include "agent/cupti/callbacks.h"

#include <initializer_list>

#include "agent/agent.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/cupti_source.h"
#include "agent/cupti/graph_nodes.h"

namespace agent {
namespace {

void on_resource(CUpti_CallbackId id) {
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    const Guard guard;
    if (guard) begin_recording(guard);
  }
  // Outside a Guard: the buffers come back on this thread and enter one themselves.
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) flush_cupti(false);
}

void on_fatal(const CUpti_StateData& state) {
  const Guard guard;
  if (guard) on_cupti_fatal(guard, state.notification.result, state.notification.message);
}

}  // namespace

void CUPTIAPI on_cupti_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) on_resource(id);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && data != nullptr)
    on_graph_callback(id, *static_cast<const CUpti_ResourceData*>(data));
  if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR && data != nullptr)
    on_fatal(*static_cast<const CUpti_StateData*>(data));
}

CUptiResult enable_callbacks(CUpti_SubscriberHandle subscriber) noexcept {
  for (const CUpti_CallbackId id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
    const CUptiResult result = cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (result != CUPTI_SUCCESS) return result;
  }
  cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  enable_graph_callbacks(subscriber);
  return CUPTI_SUCCESS;
}

}  // namespace agent
