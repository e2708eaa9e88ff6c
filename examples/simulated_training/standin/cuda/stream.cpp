// Streams and events.
#include <algorithm>

#include "../true_clock.h"
#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "executor.h"
#include "graph.h"
#include "notes.h"

namespace sim {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;

CUresult create(CUstream* stream, unsigned int flags, int priority) {
  Context* context = current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::uint32_t flag = flags == CU_STREAM_NON_BLOCKING ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                                                             : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
  Stream* made = make_stream(context, flag, std::clamp(priority, kGreatestPriority, kLeastPriority));
  *stream = reinterpret_cast<CUstream>(made);
  tell_stream(*made);
  tell_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, context, made);
  return CUDA_SUCCESS;
}

CUresult wait(const Call& call, Stream* stream, Event* awaited) {
  if (stream == nullptr || awaited == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::uint64_t start_ns = true_ns();
  const Awaited what = await(*awaited);
  if (!capture_wait(*stream, *awaited)) wait_event(*stream, *awaited);
  tell_sync(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, stream->context, stream, what, start_ns);
  return CUDA_SUCCESS;
}

CUresult record(const Call& call, Stream* stream, Event* event) {
  if (stream == nullptr || event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!capture_record(*stream, *event)) record_event(*stream, *event);
  tell_recorded(*stream, *event, note_recorded(*event, call.correlation()));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

using namespace sim;

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  SIM_DRIVER_CALL(cuStreamCreate);
  return call.end(create(stream, flags, kLeastPriority));
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  SIM_DRIVER_CALL(cuStreamCreateWithPriority);
  return call.end(create(stream, flags, priority));
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  SIM_DRIVER_CALL(cuStreamGetPriority);
  const Stream* found = find_stream(stream);
  if (found == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  *priority = found->priority;
  return call.end(CUDA_SUCCESS);
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

// Not while it captures.
CUresult cuStreamSynchronize(CUstream stream) {
  SIM_DRIVER_CALL(cuStreamSynchronize);
  Stream* found = find_stream(stream);
  if (found == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  if (is_capturing(*found)) return call.end(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const std::uint64_t start_ns = true_ns();
  wait_for(*found);
  tell_sync(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, found->context, found, {}, start_ns);
  tell_synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, found->context, found);
  return call.end(CUDA_SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  SIM_DRIVER_CALL(cuStreamWaitEvent);
  return call.end(wait(call, find_stream(stream), find_event(event)));
}

CUresult cuEventCreate(CUevent* event, unsigned int) {
  SIM_DRIVER_CALL(cuEventCreate);
  if (current_context() == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  *event = reinterpret_cast<CUevent>(make_event());
  return call.end(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  SIM_DRIVER_CALL(cuEventRecord);
  return call.end(record(call, find_stream(stream), find_event(event)));
}

CUresult cuEventQuery(CUevent event) {
  SIM_DRIVER_CALL(cuEventQuery);
  Event* asked = find_event(event);
  if (asked == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  const std::uint64_t start_ns = true_ns();
  const Awaited what = await(*asked);
  const CUresult result = is_done(*asked) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  tell_sync(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, current_context(), nullptr, what, start_ns,
            result);
  return call.end(result);
}

CUresult cuEventSynchronize(CUevent event) {
  SIM_DRIVER_CALL(cuEventSynchronize);
  Event* awaited = find_event(event);
  if (awaited == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  const std::uint64_t start_ns = true_ns();
  const Awaited what = await(*awaited);
  wait_for(*awaited);
  tell_sync(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, current_context(), nullptr, what, start_ns);
  return call.end(CUDA_SUCCESS);
}

// The handle stays known: nothing here is freed.
CUresult cuEventDestroy(CUevent event) {
  SIM_DRIVER_CALL(cuEventDestroy_v2);
  return call.end(find_event(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}
