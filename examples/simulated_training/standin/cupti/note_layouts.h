// Records that the CUDA headers of this build may lack or have in an older form, each in its longest form: older CUPTIs
// write a shorter one (note_records.cpp says which). Checked against the headers where these have them.
#pragma once
#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace sim {

struct SyncLayout {  // CUpti_ActivitySynchronization2
  CUpti_ActivityKind kind;
  std::uint32_t type;
  std::uint64_t start, end;
  std::uint32_t correlationId, contextId, streamId, cudaEventId;
  std::uint64_t cudaEventSyncId;
  std::uint32_t returnValue, pad;
};

struct CudaEventLayout {  // CUpti_ActivityCudaEvent2
  CUpti_ActivityKind kind;
  std::uint32_t correlationId, contextId, streamId, eventId, pad, deviceId, pad2;
  void* reserved0;
  std::uint64_t deviceTimestamp, cudaEventSyncId;
};

struct OverheadLayout {  // CUpti_ActivityOverhead3
  CUpti_ActivityKind kind;
  std::uint32_t overheadKind, objectKind;
  std::uint32_t objectId[3];  // process and thread, or device, context and stream
  std::uint64_t start, end;
  std::uint32_t correlationId, reserved0;
  void* overheadData;
};

struct ContextLayout {  // CUpti_ActivityContext3
  CUpti_ActivityKind kind;
  std::uint32_t contextId, deviceId;
  std::uint16_t computeApiKind, nullStreamId;
  std::uint32_t parentContextId;
  std::uint8_t isGreenContext, padding;
  std::uint16_t numMultiprocessors;
  std::uint32_t cigMode, padding2;
};

struct MemoryLayout {  // CUpti_ActivityMemory4
  CUpti_ActivityKind kind;
  std::uint32_t operation, memoryKind, correlationId;
  std::uint64_t address, bytes, timestamp, pc;
  std::uint32_t processId, deviceId, contextId, streamId;
  const char* name;
  std::uint32_t isAsync, pad1;
  std::uint32_t poolType, pad2;
  std::uint64_t poolAddress, releaseThreshold, poolSize, utilizedSize;
  const char* source;
};

struct PoolLayout {  // CUpti_ActivityMemoryPool3
  CUpti_ActivityKind kind;
  std::uint32_t operation, poolType, correlationId;
  std::uint32_t processId, deviceId;
  std::uint64_t minBytesToKeep, address, size, releaseThreshold, timestamp, utilizedSize;
  std::uint8_t isManagedPool, pad2[7];
};

struct GraphLayout {  // CUpti_ActivityGraphTrace2
  CUpti_ActivityKind kind;
  std::uint32_t correlationId;
  std::uint64_t start, end;
  std::uint32_t deviceId, graphId, contextId, streamId;
  void* reserved;
  std::uint32_t endDeviceId, endContextId;
};

// Of a kind that no client knows.
struct UnknownLayout {
  CUpti_ActivityKind kind;
  std::uint32_t what[7];
};

#if CUPTI_API_VERSION >= 130000
using NewestDevice = CUpti_ActivityDevice5;
static_assert(sizeof(SyncLayout) == sizeof(CUpti_ActivitySynchronization2));
static_assert(offsetof(SyncLayout, cudaEventSyncId) == offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId));
static_assert(sizeof(CudaEventLayout) == sizeof(CUpti_ActivityCudaEvent2));
static_assert(offsetof(CudaEventLayout, deviceId) == offsetof(CUpti_ActivityCudaEvent2, deviceId));
static_assert(offsetof(CudaEventLayout, cudaEventSyncId) == offsetof(CUpti_ActivityCudaEvent2, cudaEventSyncId));
static_assert(sizeof(OverheadLayout) == sizeof(CUpti_ActivityOverhead3));
static_assert(offsetof(OverheadLayout, start) == offsetof(CUpti_ActivityOverhead3, start));
static_assert(offsetof(OverheadLayout, overheadData) == offsetof(CUpti_ActivityOverhead3, overheadData));
static_assert(sizeof(ContextLayout) == sizeof(CUpti_ActivityContext3));
static_assert(sizeof(MemoryLayout) == sizeof(CUpti_ActivityMemory4));
static_assert(offsetof(MemoryLayout, utilizedSize) == offsetof(CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize));
static_assert(sizeof(PoolLayout) == sizeof(CUpti_ActivityMemoryPool3));
static_assert(offsetof(PoolLayout, utilizedSize) == offsetof(CUpti_ActivityMemoryPool3, utilizedSize));
static_assert(sizeof(GraphLayout) == sizeof(CUpti_ActivityGraphTrace2));
#else
using NewestDevice = CUpti_ActivityDevice4;
#endif

}  // namespace sim
