// The agent reads the prefix that CUPTI's records have in common; the newest layouts of these headers must agree.
#include <cupti.h>

#include <cstddef>

#include "examples/simulated_training/standin/cupti/layouts.h"
#include "tests/unit/catch.h"

#define SAME(Old, New, field) CHECK(offsetof(Old, field) == offsetof(New, field))

TEST_CASE("kernels: the prefix of CUpti_ActivityKernel5") {
  using Newest = sim::NewestKernel;
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
  using Copy = sim::NewestMemcpy;
  using Peer = sim::NewestMemcpyPeer;
  using Set = sim::NewestMemset;
  SAME(CUpti_ActivityMemcpy4, Copy, copyKind);
  SAME(CUpti_ActivityMemcpy4, Copy, bytes);
  SAME(CUpti_ActivityMemcpy4, Copy, start);
  SAME(CUpti_ActivityMemcpy4, Copy, deviceId);
  SAME(CUpti_ActivityMemcpy4, Copy, streamId);
  SAME(CUpti_ActivityMemcpy4, Copy, correlationId);
  SAME(CUpti_ActivityMemcpy4, Copy, graphNodeId);
  SAME(CUpti_ActivityMemcpy4, Copy, graphId);
  SAME(CUpti_ActivityMemcpyPtoP3, Peer, bytes);
  SAME(CUpti_ActivityMemcpyPtoP3, Peer, srcDeviceId);
  SAME(CUpti_ActivityMemcpyPtoP3, Peer, dstContextId);
  SAME(CUpti_ActivityMemcpyPtoP3, Peer, graphId);
  SAME(CUpti_ActivityMemset3, Set, value);
  SAME(CUpti_ActivityMemset3, Set, memoryKind);
  SAME(CUpti_ActivityMemset3, Set, graphId);
}
