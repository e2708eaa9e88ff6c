#include "bridge_calls.h"

#include "buffers.h"
#include "records.h"
#include "state.h"

namespace sim {
namespace {

void call_back(CUpti_CallbackDomain domain, std::uint32_t cbid, const void* data) {
  const Subscriber* to = subscriber();
  if (to != nullptr && to->callback != nullptr) to->callback(to->user, domain, cbid, data);
}

void api_callback(CallEvent& event, CUpti_ApiCallbackSite site) {
  const auto domain = static_cast<CUpti_CallbackDomain>(event.domain);
  if (!callback_enabled(domain, event.cbid)) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = event.name;
  data.functionParams = event.params;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &event.result : nullptr;
  data.symbolName = event.symbol;
  data.context = static_cast<CUcontext>(event.context);
  data.contextUid = event.context_id;
  data.correlationData = &event.callback_data;
  data.correlationId = event.correlation;
  call_back(domain, event.cbid, &data);
}

void reserve_device(DeviceEvent& event) {
  const CUpti_ActivityKind kind = kind_of(event);
  event.fate = Fate::off;
  event.slot = nullptr;
  if (!kind_enabled(kind)) return;
  event.fate = admit();
  if (event.fate == Fate::emitted) reserve(kind, event);
}

void finish_device(const DeviceEvent& event) { finish(event); }
void enter_call(CallEvent& event) { api_callback(event, CUPTI_API_ENTER); }

void exit_call(CallEvent& event) {
  api_callback(event, CUPTI_API_EXIT);
  const bool wanted = api_enabled(static_cast<CUpti_CallbackDomain>(event.domain), event.cbid);
  event.fate = wanted ? admit() : Fate::off;
}

void finish_call(const CallEvent& event) {
  if (event.fate == Fate::emitted) append(kind_of(event), event);
}

void resource(std::uint32_t cbid, void* context, void* stream) {
  if (!callback_enabled(CUPTI_CB_DOMAIN_RESOURCE, cbid)) return;
  CUpti_ResourceData data{};
  data.context = static_cast<CUcontext>(context);
  data.resourceHandle.stream = static_cast<CUstream>(stream);
  call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

void synchronized(std::uint32_t cbid, void* context, void* stream) {
  if (!callback_enabled(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid)) return;
  const CUpti_SynchronizeData data{static_cast<CUcontext>(context), static_cast<CUstream>(stream)};
  call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

constexpr Bridge kBridge{to_cupti,  reserve_device, finish_device, enter_call,
                         exit_call, finish_call,    resource,      synchronized};

}  // namespace

const Bridge& bridge_calls() { return kBridge; }

}  // namespace sim
