// The agent reads CUPTI's records through the oldest struct that has what it reads; the newest layouts of these headers
// must agree. tests/scripts/test_cupti_headers.py does the same with the headers of any version.
#include <cupti.h>

#include <cstddef>

#include "agent/translate/gpu_work.h"
#include "examples/simulated_training/standin/cupti/layouts.h"
#include "examples/simulated_training/standin/cupti/note_layouts.h"
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
  SAME(Used, Newest, localMemoryPerThread);
  SAME(Used, Newest, launchType);
  SAME(Used, Newest, correlationId);
  SAME(Used, Newest, name);
  SAME(Used, Newest, graphNodeId);
  SAME(Used, Newest, graphId);
  CHECK(agent::kKernelCluster.offset == offsetof(CUpti_ActivityKernel8, clusterX));
  CHECK(agent::kKernelCluster.offset == offsetof(Newest, clusterX));
  CHECK(offsetof(Newest, clusterZ) - offsetof(Newest, clusterX) == offsetof(agent::Cluster, z));
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

TEST_CASE("calls: CUpti_ActivityAPI has never grown") {
  STATIC_REQUIRE(sizeof(CUpti_ActivityAPI) == 40);
  STATIC_REQUIRE(sizeof(CUpti_ActivityStream) == 24);
}

// The newest layouts, under names of their own: headers before CUDA 13 lack some.
TEST_CASE("waits, overhead, graphs, memory, contexts: the structs of CUDA 11.8") {
  CHECK(offsetof(CUpti_ActivitySynchronization, type) == offsetof(sim::SyncLayout, type));
  SAME(CUpti_ActivitySynchronization, sim::SyncLayout, start);
  SAME(CUpti_ActivitySynchronization, sim::SyncLayout, cudaEventId);
  CHECK(agent::kSyncResult.offset == offsetof(sim::SyncLayout, returnValue));
  CHECK(agent::kSyncOfEvent.offset == offsetof(sim::SyncLayout, cudaEventSyncId));
  SAME(CUpti_ActivityCudaEvent, sim::CudaEventLayout, correlationId);
  SAME(CUpti_ActivityCudaEvent, sim::CudaEventLayout, contextId);
  SAME(CUpti_ActivityCudaEvent, sim::CudaEventLayout, streamId);
  SAME(CUpti_ActivityCudaEvent, sim::CudaEventLayout, eventId);
  CHECK(agent::kEventSync.offset == offsetof(sim::CudaEventLayout, cudaEventSyncId));
  SAME(CUpti_ActivityOverhead, sim::OverheadLayout, overheadKind);
  SAME(CUpti_ActivityOverhead, sim::OverheadLayout, objectId);
  SAME(CUpti_ActivityOverhead, sim::OverheadLayout, end);
  CHECK(agent::kOverheadCorrelation.offset == offsetof(sim::OverheadLayout, correlationId));
  SAME(CUpti_ActivityGraphTrace, sim::GraphLayout, end);
  SAME(CUpti_ActivityGraphTrace, sim::GraphLayout, graphId);
  SAME(CUpti_ActivityGraphTrace, sim::GraphLayout, streamId);
  SAME(CUpti_ActivityMemory3, sim::MemoryLayout, timestamp);
  SAME(CUpti_ActivityMemory3, sim::MemoryLayout, streamId);
  SAME(CUpti_ActivityMemory3, sim::MemoryLayout, isAsync);
  CHECK(offsetof(CUpti_ActivityMemory3, memoryPoolConfig.memoryPoolType) == offsetof(sim::MemoryLayout, poolType));
  CHECK(offsetof(CUpti_ActivityMemory3, memoryPoolConfig.address) == offsetof(sim::MemoryLayout, poolAddress));
  SAME(CUpti_ActivityMemoryPool2, sim::PoolLayout, address);
  SAME(CUpti_ActivityMemoryPool2, sim::PoolLayout, releaseThreshold);
  SAME(CUpti_ActivityMemoryPool2, sim::PoolLayout, utilizedSize);
  SAME(CUpti_ActivityContext, sim::ContextLayout, deviceId);
  SAME(CUpti_ActivityContext, sim::ContextLayout, nullStreamId);
}
