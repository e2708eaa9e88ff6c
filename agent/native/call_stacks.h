// Records the stacks of CUDA and NCCL calls: native stacks (TRACETOOL_NATIVE_STACKS), otherwise only Python's
// (TRACETOOL_TORCH=stacks or all).
#pragma once
#include <cupti.h>

#include <cstdint>

#include "agent/base/guard.h"
#include "common/records/stacks.h"

namespace agent {

// Selects the CUDA calls that get a stack: synchronizations, allocations of device memory and, for native stacks,
// launches. Only their callbacks are enabled, and none without the settings.

// Called after each subscription.
void enable_stack_callbacks(CUpti_SubscriberHandle subscriber) noexcept;

// Returns true if a callback reports the beginning of an outermost call of this thread. Call it exactly once per
// callback.
bool begins_call(CUpti_CallbackDomain domain, CUpti_ApiCallbackSite site) noexcept;

// Called for each callback of a call.
void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

enum class CallStacks : std::uint8_t { none, python, native };

// Returns the setting of this process. The first call determines it, and reports once if native stacks are not
// available.
CallStacks call_stacks() noexcept;
// The same, but waits at most a second if another thread is determining it. For one-time setup.
CallStacks made_call_stacks() noexcept;

// A call that this thread has just begun.
struct StackedCall {
  trace::StackReason reason = trace::StackReason::call;
  bool is_launch = false;
  std::uint32_t correlation_id = 0;
  std::uint64_t time_mono_ns = 0;  // 0 for now
};

// Writes the stack of a call; the recording has to be open. At most 100 per second and thread, a fifth of which is
// reserved for calls other than launches. Further calls, and native stacks that cannot be found, are counted in the
// header. A thread without Python has no Python stack.
void write_call_stack(const Guard& guard, const StackedCall& call) noexcept;

}  // namespace agent
