// Where a call into CUDA comes from: the native frames of the calling thread, each as the loaded object and the address in it, and, where
// Python's stacks are recorded (TRACETOOL_TORCH=stacks), Python's frames in place of those of its interpreter. Names are found offline.
#pragma once
#include <cstdint>
#include <string_view>

#include "agent/base/guard.h"

namespace agent {

// Of the call with this correlation id that this thread has just begun, with the recording open. At most 100 a second and thread, of
// which a fifth is kept for calls that are no launches; the others are counted in the header, as are those that cannot be told.
void write_native_stack(const Guard& guard, std::uint32_t correlation_id, bool is_launch) noexcept;

// A stack of such a call; none where there are no frames.
void write_call_stack(const Guard& guard, std::uint32_t correlation_id, std::string_view frames) noexcept;

}  // namespace agent
