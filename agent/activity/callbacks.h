// CUPTI's callbacks: the few moments of a process's life that are needed. A call only with TRACETOOL_NATIVE_STACKS.
#pragma once
#include <cupti.h>

namespace agent {

// The one callback function; `user` is unused.
void CUPTIAPI on_cupti_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

// Enables what on_cupti_callback() wants to see. The first result that is not CUPTI_SUCCESS, of those without which
// nothing works.
CUptiResult enable_callbacks(CUpti_SubscriberHandle subscriber) noexcept;

}  // namespace agent
