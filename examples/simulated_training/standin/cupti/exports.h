// The real headers; CUPTI_LIB makes their functions visible, all else in this library is hidden.
#pragma once
#define CUPTI_LIB 1
#include <cupti.h>

#include "../bridge.h"

// CUDA 12.3 gave each thread a buffer of its own, and the attribute that changes it.
#define SIM_BUFFER_PER_THREAD (CUPTI_API_VERSION >= 21)
