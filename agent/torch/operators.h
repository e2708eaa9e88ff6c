// PyTorch's operators as a source of events, using callbacks of its own observers, as torch.profiler does.
// TRACETOOL_TORCH selects the level. At `steps` PyTorch calls us only for ranges, so operators have no cost.
#pragma once
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/torch/record_function.h"
#include "common/settings.h"

namespace agent {

// Contexts (at::ObserverContext) that begin callbacks return to PyTorch. Each has a number that is unique among open
// operators of all threads and greenlets.

// Returns null if too many operators are open. Threads with different `thread` numbers do not contend. PyTorch frees
// the context by deleting it, on any thread.
const void* new_operator_context(std::uint32_t thread) noexcept;
// Frees a context that was not returned to PyTorch.
void free_operator_context(const void* context) noexcept;
// Returns the number of a context from new_operator_context().
std::uint32_t number_of_context(const void* context) noexcept;

// Adds the callbacks of the chosen level, if libtorch_cpu is loaded by now. Later calls do nothing. If anything differs
// from the expected, one line reports it and this source stays off. For one of our threads at a time: it takes the
// loader's lock and PyTorch's.
void watch_torch() noexcept;

// Returns true if this process is to be recorded for its operators alone, although it may never use a GPU:
// TRACETOOL_TORCH is set explicitly, and the process may load PyTorch.
bool wants_torch_alone() noexcept;

// Writes the text into the recording as a notice (trace::NoticeCode::torch_unknown), when there is a recording.
// `text` has to be a string literal. For any thread.
void note_torch_unknown(const char* text) noexcept;
// Returns the number of operators and ranges begun so far. For any thread.
std::uint64_t operators_begun() noexcept;
// Returns true if operators are recorded, and not only steps.
bool torch_has_operators() noexcept;
// Returns true if allocations are to be recorded (allocations.h). For any thread.
bool torch_has_allocations() noexcept;
// Changes the level for operators that begin from now on; those that have begun end as they began. Does nothing if
// PyTorch is not observed. For one thread at a time, not in a callback.
void change_torch_level(trace::TorchLevel level) noexcept;
// Records only steps from now on, no operators.
void reduce_torch() noexcept;

}  // namespace agent
