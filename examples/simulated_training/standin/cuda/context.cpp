#include <mutex>
#include <vector>

#include "../true_clock.h"
#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "executor.h"
#include "notes.h"

namespace sim {
namespace {

struct Primary {
  std::recursive_mutex mutex;  // a client's callback on a new context may ask for its state
  std::vector<Context*> of_device = std::vector<Context*>(device_count());
  std::vector<int> retained = std::vector<int>(device_count());
};

Primary& primary() {
  static auto* const made = new Primary;
  return *made;
}

bool is_device(CUdevice device) { return device >= 0 && static_cast<std::uint32_t>(device) < device_count(); }

CUcontext handle(Context* context) { return reinterpret_cast<CUcontext>(context); }

Context* create(CUdevice device) {
  Context* context = make_context(static_cast<std::uint32_t>(device));
  tell_context(*context);
  tell_stream(*context->default_stream);
  tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context, nullptr);
  return context;
}

void destroy(Context* context) {
  wait_for(*context);
  tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, nullptr);
  context->destroyed = true;
  if (current_context() == context) set_current_context(nullptr);
}

CUresult create_current(CUcontext* context, CUdevice device) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context* made = create(device);
  set_current_context(made);
  *context = handle(made);
  return CUDA_SUCCESS;
}

// The last release destroys the context; a reset does so at once, whoever holds it.
CUresult release(CUdevice device, bool reset) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context* last = nullptr;
  {
    const std::lock_guard lock(primary().mutex);
    const auto at = static_cast<std::size_t>(device);
    int& retained = primary().retained[at];
    if (retained == 0) return reset ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    retained = reset ? 0 : retained - 1;
    if (retained == 0) std::swap(last, primary().of_device[at]);
  }
  if (last != nullptr) destroy(last);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

using namespace sim;

// By the name that every driver since CUDA 4 has; newer headers give the others.
SIM_EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice device) {
  SIM_DRIVER_CALL(cuCtxCreate_v2);
  return call.end(create_current(context, device));
}

#if CUDA_VERSION >= 13000
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned int, CUdevice device) {
  SIM_DRIVER_CALL(cuCtxCreate_v4);
  return call.end(create_current(context, device));
}
#endif

CUresult cuCtxDestroy(CUcontext context) {
  SIM_DRIVER_CALL(cuCtxDestroy_v2);
  Context* found = find_context(context);
  if (found == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  destroy(found);
  return call.end(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  SIM_DRIVER_CALL(cuCtxGetCurrent);
  *context = handle(current_context());
  return call.end(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  SIM_DRIVER_CALL(cuCtxSetCurrent);
  Context* found = find_context(context);
  if (context != nullptr && found == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  set_current_context(found);
  return call.end(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize() {
  SIM_DRIVER_CALL(cuCtxSynchronize);
  Context* context = current_context();
  if (context == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  const std::uint64_t start_ns = true_ns();
  wait_for(*context);
  tell_sync(call, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, context, nullptr, {}, start_ns);
  tell_synchronized(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, context, nullptr);
  return call.end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  SIM_DRIVER_CALL(cuDevicePrimaryCtxRetain);
  if (!is_device(device)) return call.end(CUDA_ERROR_INVALID_DEVICE);
  const std::lock_guard lock(primary().mutex);
  Context*& slot = primary().of_device[static_cast<std::size_t>(device)];
  if (slot == nullptr) slot = create(device);
  ++primary().retained[static_cast<std::size_t>(device)];
  *context = handle(slot);
  return call.end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  SIM_DRIVER_CALL(cuDevicePrimaryCtxRelease_v2);
  return call.end(release(device, false));
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  SIM_DRIVER_CALL(cuDevicePrimaryCtxReset_v2);
  return call.end(release(device, true));
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  SIM_DRIVER_CALL(cuDevicePrimaryCtxGetState);
  if (!is_device(device)) return call.end(CUDA_ERROR_INVALID_DEVICE);
  const std::lock_guard lock(primary().mutex);
  *flags = 0;
  *active = primary().of_device[static_cast<std::size_t>(device)] != nullptr ? 1 : 0;
  return call.end(CUDA_SUCCESS);
}
