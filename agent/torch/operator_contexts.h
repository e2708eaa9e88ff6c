// PyTorch's contexts of our begin callbacks (at::ObserverContext): each carries a number that no other operator which is open now has,
// whatever thread or greenlet it is on and wherever its object lies.
#pragma once
#include <cstdint>

#include "agent/torch/torch_functions.h"

namespace agent {

// Null where too many are open. `thread`: any number; threads with different ones do not wait for each other. Free again when PyTorch
// deletes it, on any thread.
const void* new_operator_context(std::uint32_t thread) noexcept;
// One that is not handed over after all.
void free_operator_context(const void* context) noexcept;
// The number of a context that new_operator_context() gave.
std::uint32_t number_of_context(const void* context) noexcept;

}  // namespace agent
