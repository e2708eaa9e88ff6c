// PyTorch's operators as a source of events: callbacks of its own observers, which torch.profiler uses, too. What is asked for
// is TRACETOOL_TORCH; at `steps` PyTorch calls us for ranges alone, so that an operator costs nothing.
#pragma once
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/torch/record_function.h"
#include "common/settings.h"

namespace agent {

// Contexts (at::ObserverContext) that begin callbacks return to PyTorch. Each has a number that is unique among open operators of all threads
// and greenlets.

// Returns null if too many operators are open. Threads with different `thread` numbers do not contend. PyTorch frees the context by deleting it, on
// any thread.
const void* new_operator_context(std::uint32_t thread) noexcept;
// Frees a context that was not returned to PyTorch.
void free_operator_context(const void* context) noexcept;
// Returns the number of a context from new_operator_context().
std::uint32_t number_of_context(const void* context) noexcept;

// Where libtorch_cpu is loaded by now: adds the callbacks of the level that is asked for. Later calls do nothing. What is not as
// expected is one line, and this source stays off. For one thread at a time, ours: it takes the loader's lock and PyTorch's.
void watch_torch() noexcept;

// Whether this process shall be recorded for its operators alone, though it may never use a GPU: TRACETOOL_TORCH is set by hand,
// and this is a process that may load PyTorch.
bool wants_torch_alone() noexcept;

// How many operators and ranges began so far. For any thread.
std::uint64_t operators_begun() noexcept;
// Whether operators are recorded, and not steps alone.
bool torch_has_operators() noexcept;
// From now on what this level asks for; what has begun ends as it began. Nothing happens where PyTorch is not observed. For one thread at
// a time, not in a callback.
void change_torch_level(trace::TorchLevel level) noexcept;
// No operators from now on, only steps.
void reduce_torch() noexcept;

}  // namespace agent
