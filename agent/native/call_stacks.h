// Where calls into CUDA and NCCL come from, as records: native stacks (TRACETOOL_NATIVE_STACKS), else Python's alone
// (TRACETOOL_TORCH=stacks or all).
#pragma once
#include <cupti.h>

#include <cstdint>

#include "agent/base/guard.h"
#include "common/records/stacks.h"

namespace agent {

// Which calls of CUDA get a stack (call_stacks.h): those that wait, those that allocate memory of a device, and, of native stacks, those
// that launch. The callbacks of these alone are asked for, and of no call without the settings.

// After each subscription.
void enable_stack_callbacks(CUpti_SubscriberHandle subscriber) noexcept;

// Returns whether a callback reports the begin of an outermost call of this thread. Call it exactly once per callback.
bool begins_call(CUpti_CallbackDomain domain, CUpti_ApiCallbackSite site) noexcept;

// For each callback of a call.
void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

enum class CallStacks : std::uint8_t { none, python, native };

// Of this process. The first call decides, and says once where native stacks are not available.
CallStacks call_stacks() noexcept;
// The same, but where another thread is deciding it waits for that, a second at most: for what is set up once.
CallStacks made_call_stacks() noexcept;

// What this thread has just begun.
struct StackedCall {
  trace::StackReason reason = trace::StackReason::call;
  bool is_launch = false;
  std::uint32_t correlation_id = 0;
  std::uint64_t time_mono_ns = 0;  // 0: now
};

// With the recording open. At most 100 a second and thread, of which a fifth is kept for calls that are no launches; the others are
// counted in the header, as are native ones that cannot be told. A thread without Python has no stack of Python.
void write_call_stack(const Guard& guard, const StackedCall& call) noexcept;

}  // namespace agent
