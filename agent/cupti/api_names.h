// The names of CUDA's functions, by CUPTI's callback ids: asked for once, at the start (40 us for the 1,300 of CUPTI
// 13.0). Records are translated under a lock, with CUPTI perhaps holding one of its own: nothing may be asked of it
// there.
#pragma once
#include <cstdint>

#include "common/record.h"

namespace agent {

// Before the first record can come. Later calls do nothing.
void learn_api_names() noexcept;
// "cudaLaunchKernel_v7000" of trace::RuntimeRecord::kKind, "cuLaunchKernel" of trace::DriverRecord::kKind; "" where it has none.
const char* api_name(trace::RecordKind domain, std::uint32_t cbid) noexcept;

}  // namespace agent
