// Which calls get a native stack (TRACETOOL_NATIVE_STACKS): those that launch, those that wait, and those that allocate memory of a
// device. The callbacks of these alone are asked for, and of no call without the setting.
#pragma once
#include <cupti.h>

namespace agent {

// After each subscription. Says once where native stacks are not available.
void enable_stack_callbacks(CUpti_SubscriberHandle subscriber) noexcept;

// For each callback of a call.
void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) noexcept;

}  // namespace agent
