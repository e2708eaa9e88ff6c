#include "agent/native/stack_calls.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "agent/cupti/call_ids.h"
#include "agent/cupti/cupti_library.h"
#include "agent/native/call_stacks.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr CUpti_CallbackId kRuntimeLaunches[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000,
};
// The copies that wait, too.
constexpr CUpti_CallbackId kRuntimeWaitsAndMemory[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMallocPitch_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMalloc3D_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_ptsz_v11020,
};
constexpr CUpti_CallbackId kDriverWaitsAndMemory[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemCreate,
    CUPTI_DRIVER_TRACE_CBID_cuMemMap,
};

template <std::size_t Count>
bool contains(const CUpti_CallbackId (&ids)[Count], CUpti_CallbackId id) {
  return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
}

bool is_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? contains(kRuntimeLaunches, id) : contains(kDriverLaunches, id);
}

// The number of the current CUPTI subscription. If it ends during a call, CUPTI does not report that call's end.
constinit std::atomic<std::uint32_t> s_subscriptions{0};
// The subscription that reported the runtime call this thread is in, or 0 outside of runtime calls. Driver calls inside a runtime call have
// the same stack and are skipped.
thread_local std::uint32_t t_in_runtime __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

bool begins_call(CUpti_CallbackDomain domain, CUpti_ApiCallbackSite site) noexcept {
  const bool enters = site == CUPTI_API_ENTER;
  const std::uint32_t subscription = s_subscriptions.load(std::memory_order_relaxed);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && t_in_runtime == subscription) return false;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) t_in_runtime = enters ? subscription : 0;
  return enters;
}

void enable_stack_callbacks(CUpti_SubscriberHandle subscriber) noexcept {
  s_subscriptions.fetch_add(1, std::memory_order_relaxed);
  const CallStacks stacks = made_call_stacks();
  if (stacks == CallStacks::none) return;
  const auto enable = [&](CUpti_CallbackDomain domain, const auto& ids) {
    for (const CUpti_CallbackId id : ids) cupti().enable_callback(1, subscriber, domain, id);
  };
  enable(CUPTI_CB_DOMAIN_RUNTIME_API, kRuntimeWaitsAndMemory);
  enable(CUPTI_CB_DOMAIN_DRIVER_API, kDriverWaitsAndMemory);
  if (stacks == CallStacks::python) return;  // launches have their operators' stacks
  enable(CUPTI_CB_DOMAIN_RUNTIME_API, kRuntimeLaunches);
  enable(CUPTI_CB_DOMAIN_DRIVER_API, kDriverLaunches);
}

void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept {
  if (!begins_call(domain, call.callbackSite)) return;
  const Guard guard;
  if (!guard || recording() != Recording::open) return;
  StackedCall stacked;
  stacked.is_launch = is_launch(domain, id);
  stacked.correlation_id = call.correlationId;
  write_call_stack(guard, stacked);
}

}  // namespace agent
