// Versions, names and ids.
#include <iterator>

#include "buffers.h"
#include "callback_names.h"
#include "state.h"

using namespace sim;

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = behaviour().version;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *text = "<unknown>";
  for (const ResultName& known : kResultNames) {
    if (known.result != static_cast<int>(result)) continue;
    *text = known.name;
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

// As the real library: number 0 is "INVALID", and only the two API domains have names.
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid, const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (!is_driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return CUPTI_ERROR_INVALID_PARAMETER;
  if (cbid >= (is_driver ? std::size(kDriverNames) : std::size(kRuntimeNames))) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = is_driver ? kDriverNames[cbid] : kRuntimeNames[cbid];
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  SIM_NEED_DRIVER();
  std::uint32_t device;
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return driver()->context_ids(context, *id, device) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* id) {
  SIM_NEED_DRIVER();
  std::uint32_t context_id;
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return driver()->context_ids(context, context_id, *id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
  SIM_NEED_DRIVER();
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return driver()->stream_id(stream, *id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, std::uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  SIM_NEED_DRIVER();
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return driver()->graph_node_id(node, *id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetGraphId(CUgraph graph, std::uint32_t* id) {
  SIM_NEED_DRIVER();
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return driver()->graph_id(graph, *id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

// Since CUDA 12.1; older headers do not have it.
extern "C" __attribute__((visibility("default"))) CUptiResult cuptiGetGraphExecId(CUgraphExec exec, std::uint32_t* id) {
  SIM_NEED_DRIVER();
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return driver()->graph_exec_id(exec, *id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

// CUPTI's guide, 2.4.7: with more than one subscriber it returns early.
CUptiResult cuptiFinalize() {
  if (live_clients() > 1) return CUPTI_SUCCESS;
  each_client([](Client& each) {
    forget_kinds(each);
    if (each.number == 0) forget_subscriber(each);
  });
  forget_subscribers();
  return CUPTI_SUCCESS;
}
