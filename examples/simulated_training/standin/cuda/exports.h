// The real headers, with their functions visible: all else in this library is hidden.
#pragma once
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))
