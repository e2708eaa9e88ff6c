// From a call to work in a stream.
#pragma once
#include "call.h"

namespace sim {

struct Dim3 {
  std::uint32_t x, y, z;
};

// What cuLaunchKernelEx and cuLaunchCooperativeKernel can ask for.
struct LaunchKind {
  Dim3 cluster{};
  std::uint8_t type = 0;  // CUpti_ActivityLaunchType
};
CUresult launch(const Call& call, CUfunction function, Dim3 grid, Dim3 block, std::uint32_t shared_bytes,
                CUstream stream, void** params, const LaunchKind& kind = {});
// Null: no function of a loaded module.
const Function* find_function(const void* handle);
const char* function_name(const void* handle);  // null likewise
// A function of no module, which takes no KernelWork; it lives as long as the process.
const Function* add_function(const char* name);
// The handle of a kernel that the program knows by the address of one of its functions; any other comes back as it is.
const void* device_function(const void* host);

// Gives the work its place in the stream and in CUPTI's buffers; CUDA_ERROR_ILLEGAL_ADDRESS where the context failed.
CUresult enqueue(std::uint32_t correlation, Stream& stream, Op&& op);

// Copies and sets: `event` has its kind, bytes and memory kinds.
CUresult transfer(const Call& call, CUstream stream, DeviceEvent event);

}  // namespace sim
