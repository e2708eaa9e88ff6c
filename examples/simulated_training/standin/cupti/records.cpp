#include "records.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "layouts.h"
#include "sizes.h"
#include "state.h"

namespace sim {
namespace {

static_assert(sizeof(NewestKernel) <= kMaxRecord);

// 11.6 (16), 11.8 (18), 12.0 (19), 13.0 and 13.1 made the kernel longer, 11.6 and 12.8 (26) the copy. The first row is
// what these headers have, so that no version writes more than they know.
constexpr Since kKernelSizes[] = {{CUPTI_API_VERSION, sizeof(NewestKernel)}, {130'100, sizeof(NewestKernel)},
                                  {130'000, sizeof(Cuda13Kernel)},           {19, sizeof(Cuda12Kernel)},
                                  {18, sizeof(CUpti_ActivityKernel8)},       {16, sizeof(CUpti_ActivityKernel7)},
                                  {0, sizeof(CUpti_ActivityKernel6)}};
constexpr Since kCopySizes[] = {{CUPTI_API_VERSION, sizeof(NewestMemcpy)},
                                {26, sizeof(NewestMemcpy)},
                                {16, sizeof(CUpti_ActivityMemcpy5)},
                                {0, sizeof(CUpti_ActivityMemcpy4)}};
constexpr Since kSetSizes[] = {{16, sizeof(NewestMemset)}, {0, sizeof(CUpti_ActivityMemset3)}};

template <typename Record>
void store_sized(std::byte* at, const Record& record) {
  std::memcpy(at, &record, std::min(sizeof(record), record_size(record.kind)));
}

template <typename Record>
void fill_common(Record& record, const DeviceEvent& event, bool incomplete) {
  record.kind = kind_of(event);
  record.start = incomplete ? 0 : event.cupti_start_ns;
  record.end = incomplete ? 0 : event.cupti_end_ns;
  record.deviceId = event.device;
  record.contextId = event.context;
  record.streamId = event.stream;
  record.correlationId = event.correlation;
  record.graphId = event.graph;
  record.graphNodeId = event.graph_node;
  record.channelID = event.stream;
  record.channelType = event.kind == DeviceKind::kernel || event.kind == DeviceKind::memset
                           ? CUPTI_CHANNEL_TYPE_COMPUTE
                           : CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
}

void fill_kernel(std::byte* at, const DeviceEvent& event, bool incomplete) {
  NewestKernel record{};
  fill_common(record, event, incomplete);
  record.completed = record.end;
  record.registersPerThread = static_cast<std::uint16_t>(event.registers);
  record.gridX = static_cast<std::int32_t>(event.grid[0]);
  record.gridY = static_cast<std::int32_t>(event.grid[1]);
  record.gridZ = static_cast<std::int32_t>(event.grid[2]);
  record.blockX = static_cast<std::int32_t>(event.block[0]);
  record.blockY = static_cast<std::int32_t>(event.block[1]);
  record.blockZ = static_cast<std::int32_t>(event.block[2]);
  record.staticSharedMemory = static_cast<std::int32_t>(event.static_shared_bytes);
  record.dynamicSharedMemory = static_cast<std::int32_t>(event.dynamic_shared_bytes);
  record.localMemoryPerThread = event.local_bytes;
  record.gridId = static_cast<std::int64_t>(event.seq);
  record.name = event.name;
  record.launchType = event.launch_type;
  record.clusterX = event.cluster[0];
  record.clusterY = event.cluster[1];
  record.clusterZ = event.cluster[2];
  record.sharedMemoryExecuted = 32'768;
  store_sized(at, record);
}

template <typename Record>
Record copy_record(const DeviceEvent& event, bool incomplete) {
  Record record{};
  fill_common(record, event, incomplete);
  record.copyKind = event.copy_kind;
  record.srcKind = event.src_memory;
  record.dstKind = event.dst_memory;
  record.flags = event.flags;
  record.bytes = event.bytes;
  if constexpr (requires { record.copyCount; }) record.copyCount = 1;
  return record;
}

void fill_copy(std::byte* at, const DeviceEvent& event, bool incomplete) {
  store_sized(at, copy_record<NewestMemcpy>(event, incomplete));
}

void fill_peer(std::byte* at, const DeviceEvent& event, bool incomplete) {
  auto record = copy_record<NewestMemcpyPeer>(event, incomplete);
  record.srcDeviceId = event.src_device;
  record.srcContextId = event.src_context;
  record.dstDeviceId = event.dst_device;
  record.dstContextId = event.dst_context;
  store_sized(at, record);
}

void fill_set(std::byte* at, const DeviceEvent& event, bool incomplete) {
  NewestMemset record{};
  fill_common(record, event, incomplete);
  record.value = event.value;
  record.bytes = event.bytes;
  record.flags = event.flags;
  record.memoryKind = event.dst_memory;
  store_sized(at, record);
}

}  // namespace

std::size_t record_size(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return size_in(kKernelSizes);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return size_in(kCopySizes);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(NewestMemcpyPeer);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return size_in(kSetSizes);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    default:
      return note_record_size(kind);
  }
}

CUpti_ActivityKind kind_of(const DeviceEvent& event) {
  switch (event.kind) {
    case DeviceKind::kernel:
      return CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    case DeviceKind::memcpy:
      return CUPTI_ACTIVITY_KIND_MEMCPY;
    case DeviceKind::memcpy_peer:
      return CUPTI_ACTIVITY_KIND_MEMCPY2;
    case DeviceKind::memset:
      return CUPTI_ACTIVITY_KIND_MEMSET;
    case DeviceKind::graph:
      return CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  }
  return CUPTI_ACTIVITY_KIND_INVALID;
}

CUpti_ActivityKind kind_of(const CallEvent& event) {
  return event.domain == CUPTI_CB_DOMAIN_DRIVER_API ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
}

void fill_record(std::byte* at, const DeviceEvent& event, bool incomplete) {
  switch (event.kind) {
    case DeviceKind::kernel:
      return fill_kernel(at, event, incomplete);
    case DeviceKind::memcpy:
      return fill_copy(at, event, incomplete);
    case DeviceKind::memcpy_peer:
      return fill_peer(at, event, incomplete);
    case DeviceKind::memset:
      return fill_set(at, event, incomplete);
    case DeviceKind::graph:
      return fill_graph(at, event, incomplete);
  }
}

void fill_record(std::byte* at, const CallEvent& event) {
  CUpti_ActivityAPI record{};
  record.kind = kind_of(event);
  record.cbid = event.cbid;
  record.start = event.cupti_start_ns;
  record.end = event.cupti_end_ns;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = event.tid;
  record.correlationId = event.correlation;
  record.returnValue = event.result;
  store_sized(at, record);
}

CUptiResult next_record(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  check_may_read();
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  at = at == nullptr ? buffer : at + record_size((*record)->kind);
  if (at + sizeof(CUpti_Activity) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const std::size_t size = record_size(reinterpret_cast<CUpti_Activity*>(at)->kind);
  if (size == 0) return behaviour().version <= 18 ? CUPTI_ERROR_UNKNOWN : CUPTI_ERROR_INVALID_KIND;
  if (at + size > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

}  // namespace sim

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  SIM_NEED_VERSION_1(false);
  return sim::next_record(buffer, valid, record);
}
