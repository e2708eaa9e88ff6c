#include "agent/native/call_stacks.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/cupti/cupti_library.h"
#include "agent/native/backtrace.h"
#include "agent/native/native_stacks.h"
#include "agent/python/python_stacks.h"
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
// Includes the copies that wait.
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

// The number of stacks that a thread may record: grows with time, up to a burst.
struct Bucket {
  std::uint64_t filled_ns;
  std::uint32_t left_ns;  // each stack uses kEach_ns
  bool is_begun;
};
constexpr std::uint32_t kEach_ns = 10'000'000, kBurst = 20, kKeptFromLaunches = 4;
thread_local Bucket t_bucket __attribute__((tls_model("initial-exec"))) = {};

bool may_take(Bucket& bucket, std::uint64_t now_ns, bool is_launch) {
  const std::uint64_t full_ns = std::uint64_t{kBurst} * kEach_ns;
  const std::uint64_t grown_ns = bucket.is_begun ? bucket.left_ns + (now_ns - bucket.filled_ns) : full_ns;
  bucket = {now_ns, static_cast<std::uint32_t>(grown_ns < full_ns ? grown_ns : full_ns), true};
  if (bucket.left_ns < kEach_ns * (is_launch ? kKeptFromLaunches + 1 : 1)) return false;
  bucket.left_ns -= kEach_ns;
  return true;
}

enum class Choice : std::uint8_t { open, being_made, made };
constinit std::atomic<Choice> s_choice{Choice::open};
constinit CallStacks s_chosen = CallStacks::none;  // once determined

CallStacks choose() {
  if (settings().native_stacks && prepare_backtraces()) return CallStacks::native;
  if (settings().native_stacks)
    say("TRACETOOL_NATIVE_STACKS: native stacks are unavailable: the agent was built without libunwind, the process has no thread-specific key left, or readable memory cannot be checked");
  return has_python_stacks(settings().torch) ? CallStacks::python : CallStacks::none;
}

void leave_out() { trace::SharedMemory::add(ring().header->stacks_left_out, 1); }

// Stack is PythonStack or NativeStack.
template <typename Stack>
void append(const Guard& guard, const StackedCall& call, const Stack& stack) {
  auto record = trace::make_record<trace::StackRecord>();
  record.reason = static_cast<std::uint8_t>(call.reason);
  record.tid = thread_id();
  record.correlation_id = call.correlation_id;
  HostWriter writer(guard, trace::StackRecord::kKind, sizeof(record), Stack::kMostBytes);
  if (!writer) return;
  record.stack_ref = stack.write(writer);
  if (!writer) return;  // counted as lost
  if (record.stack_ref == trace::kNoRef) return leave_out();
  record.time_mono_ns = call.time_mono_ns != 0 ? call.time_mono_ns : mono_ns();
  writer.append(record);
}

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
  write_call_stack(guard, {.is_launch = is_launch(domain, id), .correlation_id = call.correlationId});
}

// The first call of another thread meanwhile has no stack.
CallStacks call_stacks() noexcept {
  Choice choice = s_choice.load(std::memory_order_acquire);
  if (choice == Choice::open && s_choice.compare_exchange_strong(choice, Choice::being_made)) {
    s_chosen = choose();
    s_choice.store(choice = Choice::made, std::memory_order_release);
  }
  return choice == Choice::made ? s_chosen : CallStacks::none;
}

CallStacks made_call_stacks() noexcept {
  constexpr int kTries = 1000;
  constexpr timespec kMoment{0, 1'000'000};
  CallStacks stacks = call_stacks();
  for (int tries = 0; tries < kTries && s_choice.load(std::memory_order_acquire) == Choice::being_made; ++tries) {
    nanosleep(&kMoment, nullptr);
    stacks = call_stacks();
  }
  return stacks;
}

void write_call_stack(const Guard& guard, const StackedCall& call) noexcept {
  const CallStacks chosen = call_stacks();
  if (chosen == CallStacks::none || (chosen == CallStacks::python && interpreter_code() == nullptr)) return;
  if (!may_take(t_bucket, mono_ns(), call.is_launch)) return leave_out();
  if (chosen == CallStacks::python) {
    PythonStack stack(guard);
    stack.read();
    return stack.size() > 0 ? append(guard, call, stack) : void();
  }
  append(guard, call, NativeStack(guard));
}

}  // namespace agent
