// Which calls of CUDA get a stack (call_stacks.h): those that wait, those that allocate memory of a device, and, of native stacks, those
// that launch. The callbacks of these alone are asked for, and of no call without the settings.
#pragma once
#include <cupti.h>

namespace agent {

// After each subscription.
void enable_stack_callbacks(CUpti_SubscriberHandle subscriber) noexcept;

// Returns whether a callback reports the begin of an outermost call of this thread. Call it exactly once per callback.
bool begins_call(CUpti_CallbackDomain domain, CUpti_ApiCallbackSite site) noexcept;

// For each callback of a call.
void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

}  // namespace agent
