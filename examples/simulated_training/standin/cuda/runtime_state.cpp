// Of the CUDA runtime: what is asked about, and what starts and stops profilers.
#include <cstdio>

#include "call.h"
#include "cbids.h"

using namespace sim;

// CUPTI tells nothing of it.
const char* cudaGetErrorString(cudaError_t error) {
  thread_local char t_text[32];
  std::snprintf(t_text, sizeof(t_text), "CUDA error %d", static_cast<int>(error));
  return t_text;
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  SIM_RUNTIME_CALL(cudaMemGetInfo_v3020);
  return call.end(static_cast<cudaError_t>(cuMemGetInfo(available, total)));
}

cudaError_t cudaProfilerStart() {
  SIM_RUNTIME_CALL(cudaProfilerStart_v4000);
  return call.end(cudaSuccess);
}

cudaError_t cudaProfilerStop() {
  SIM_RUNTIME_CALL(cudaProfilerStop_v4000);
  return call.end(cudaSuccess);
}
