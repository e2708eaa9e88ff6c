// Contexts (at::ObserverContext) that begin callbacks return to PyTorch. Each has a number that is unique among open operators of all threads
// and greenlets.
#pragma once
#include <cstdint>

#include "agent/torch/torch_functions.h"

namespace agent {

// Returns null if too many operators are open. Threads with different `thread` numbers do not contend. PyTorch frees the context by deleting it, on
// any thread.
const void* new_operator_context(std::uint32_t thread) noexcept;
// Frees a context that was not returned to PyTorch.
void free_operator_context(const void* context) noexcept;
// Returns the number of a context from new_operator_context().
std::uint32_t number_of_context(const void* context) noexcept;

}  // namespace agent
