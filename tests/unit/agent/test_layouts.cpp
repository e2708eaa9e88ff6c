// The agent reads the prefix that CUPTI's records have in common; the newest layouts of these headers must agree.
#include <cupti.h>

#include <cstddef>

#include "tests/unit/catch.h"

#define SAME(Old, New, field) CHECK(offsetof(Old, field) == offsetof(New, field))

TEST_CASE("kernels: the prefix of CUpti_ActivityKernel5") {
#if CUPTI_API_VERSION >= 130000
  using Newest = CUpti_ActivityKernel10;
#else
  using Newest = CUpti_ActivityKernel9;
#endif
  using Used = CUpti_ActivityKernel5;
  SAME(Used, Newest, registersPerThread);
  SAME(Used, Newest, start);
  SAME(Used, Newest, end);
  SAME(Used, Newest, deviceId);
  SAME(Used, Newest, contextId);
  SAME(Used, Newest, streamId);
  SAME(Used, Newest, gridX);
  SAME(Used, Newest, blockX);
  SAME(Used, Newest, staticSharedMemory);
  SAME(Used, Newest, dynamicSharedMemory);
  SAME(Used, Newest, correlationId);
  SAME(Used, Newest, name);
  SAME(Used, Newest, graphNodeId);
  SAME(Used, Newest, graphId);
}

TEST_CASE("copies and sets: the prefixes of Memcpy4, MemcpyPtoP3 and Memset3") {
#if CUPTI_API_VERSION >= 130000
  using Copy = CUpti_ActivityMemcpy6;
#else
  using Copy = CUpti_ActivityMemcpy5;
#endif
  SAME(CUpti_ActivityMemcpy4, Copy, copyKind);
  SAME(CUpti_ActivityMemcpy4, Copy, bytes);
  SAME(CUpti_ActivityMemcpy4, Copy, start);
  SAME(CUpti_ActivityMemcpy4, Copy, deviceId);
  SAME(CUpti_ActivityMemcpy4, Copy, streamId);
  SAME(CUpti_ActivityMemcpy4, Copy, correlationId);
  SAME(CUpti_ActivityMemcpy4, Copy, graphNodeId);
  SAME(CUpti_ActivityMemcpy4, Copy, graphId);
  SAME(CUpti_ActivityMemcpyPtoP3, CUpti_ActivityMemcpyPtoP4, bytes);
  SAME(CUpti_ActivityMemcpyPtoP3, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
  SAME(CUpti_ActivityMemcpyPtoP3, CUpti_ActivityMemcpyPtoP4, dstContextId);
  SAME(CUpti_ActivityMemcpyPtoP3, CUpti_ActivityMemcpyPtoP4, graphId);
  SAME(CUpti_ActivityMemset3, CUpti_ActivityMemset4, value);
  SAME(CUpti_ActivityMemset3, CUpti_ActivityMemset4, memoryKind);
  SAME(CUpti_ActivityMemset3, CUpti_ActivityMemset4, graphId);
}
