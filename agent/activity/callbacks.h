// Handles CUPTI's callbacks: the few events in a process's life that are needed. Call callbacks are enabled only with
// TRACETOOL_NATIVE_STACKS.
#pragma once
#include <cupti.h>

namespace agent {

// The only callback function; `user` is unused.
void CUPTIAPI on_cupti_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

// Enables the callbacks that on_cupti_callback() needs. Returns the first result other than CUPTI_SUCCESS of the
// indispensable ones.
CUptiResult enable_callbacks(CUpti_SubscriberHandle subscriber) noexcept;

}  // namespace agent
