// The newest layout of each kind of record in the CUDA headers of this build, 11.8 and newer: what a CUPTI of that
// release writes. CUPTI_API_VERSION: 18 is 11.8 but also 12.0 and 12.1, so CUDA_VERSION tells these apart; 26 is 12.8.
#pragma once
#include <cuda.h>
#include <cupti.h>

namespace sim {

#if CUDA_VERSION >= 12000
using Cuda12Kernel = CUpti_ActivityKernel9;
#else
using Cuda12Kernel = CUpti_ActivityKernel8;
#endif

#if CUPTI_API_VERSION >= 130000
using Cuda13Kernel = CUpti_ActivityKernel10;
#else
using Cuda13Kernel = Cuda12Kernel;
#endif

#if CUPTI_API_VERSION >= 130100
using NewestKernel = CUpti_ActivityKernel11;
#else
using NewestKernel = Cuda13Kernel;
#endif

#if CUPTI_API_VERSION >= 26
using NewestMemcpy = CUpti_ActivityMemcpy6;
#else
using NewestMemcpy = CUpti_ActivityMemcpy5;
#endif

using NewestMemcpyPeer = CUpti_ActivityMemcpyPtoP4;
using NewestMemset = CUpti_ActivityMemset4;

}  // namespace sim
