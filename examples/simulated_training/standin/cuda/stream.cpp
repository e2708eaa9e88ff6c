// Streams and events.
#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "executor.h"

namespace sim {
namespace {

CUresult create(CUstream* stream) {
  Context* context = current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Stream* made = make_stream(context);
  *stream = reinterpret_cast<CUstream>(made);
  tell_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, context, made);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

using namespace sim;

CUresult cuStreamCreate(CUstream* stream, unsigned int) {
  SIM_DRIVER_CALL(cuStreamCreate);
  return call.end(create(stream));
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int, int) {
  SIM_DRIVER_CALL(cuStreamCreateWithPriority);
  return call.end(create(stream));
}

CUresult cuStreamDestroy(CUstream stream) {
  SIM_DRIVER_CALL(cuStreamDestroy_v2);
  Stream* found = stream != nullptr ? find_stream(stream) : nullptr;
  if (found == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  wait_for(*found);
  tell_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, found->context, found);
  found->destroyed = true;
  return call.end(CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream stream) {
  SIM_DRIVER_CALL(cuStreamSynchronize);
  Stream* found = find_stream(stream);
  if (found == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  wait_for(*found);
  tell_synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, found->context, found);
  return call.end(CUDA_SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  SIM_DRIVER_CALL(cuStreamWaitEvent);
  Stream* found = find_stream(stream);
  Event* awaited = find_event(event);
  if (found == nullptr || awaited == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  wait_event(*found, *awaited);
  return call.end(CUDA_SUCCESS);
}

CUresult cuEventCreate(CUevent* event, unsigned int) {
  SIM_DRIVER_CALL(cuEventCreate);
  if (current_context() == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  *event = reinterpret_cast<CUevent>(make_event());
  return call.end(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  SIM_DRIVER_CALL(cuEventRecord);
  Stream* found = find_stream(stream);
  Event* recorded = find_event(event);
  if (found == nullptr || recorded == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  record_event(*found, *recorded);
  return call.end(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent event) {
  SIM_DRIVER_CALL(cuEventQuery);
  Event* asked = find_event(event);
  if (asked == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  return call.end(is_done(*asked) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult cuEventSynchronize(CUevent event) {
  SIM_DRIVER_CALL(cuEventSynchronize);
  Event* awaited = find_event(event);
  if (awaited == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  wait_for(*awaited);
  return call.end(CUDA_SUCCESS);
}

// The handle stays known: nothing here is freed.
CUresult cuEventDestroy(CUevent event) {
  SIM_DRIVER_CALL(cuEventDestroy_v2);
  return call.end(find_event(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}
