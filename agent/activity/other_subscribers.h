// Who else is there: who holds CUPTI when we may not have it, and who cannot have it beside us.
#pragma once
#include <cstddef>

namespace agent {

// The other subscriber's name as CUPTI 13 tells it, else the tool whose library is in the process, else "another tool".
void name_current_subscriber(char* text, std::size_t size) noexcept;

// Says, where PyTorch is in the process, what its profiler gets while we have a subscription of CUPTI's version 2.
void warn_torch_profiler() noexcept;

}  // namespace agent
