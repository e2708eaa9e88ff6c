#include "note_fill.h"

#include <unistd.h>

#include "note_layouts.h"
#include "state.h"

namespace sim {
namespace {

std::uint32_t own_pid() { return static_cast<std::uint32_t>(getpid()); }

}  // namespace

void fill_device(std::byte* at, const Note& note) {
  const DeviceFacts& facts = *driver()->device_facts(note.device);
  NewestDevice record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.globalMemoryBandwidth = facts.bandwidth_kbps;
  record.globalMemorySize = facts.memory_bytes;
  record.constantMemorySize = facts.constant_bytes;
  record.l2CacheSize = facts.l2_bytes;
  record.numThreadsPerWarp = facts.threads_per_warp;
  record.coreClockRate = facts.core_clock_khz;
  record.numMemcpyEngines = facts.copy_engines;
  record.numMultiprocessors = facts.multiprocessors;
  record.maxWarpsPerMultiprocessor = facts.max_warps;
  record.maxBlocksPerMultiprocessor = facts.max_blocks;
  record.maxSharedMemoryPerMultiprocessor = facts.max_shared_bytes;
  record.maxRegistersPerMultiprocessor = facts.max_registers;
  record.maxRegistersPerBlock = facts.max_registers_per_block;
  record.maxSharedMemoryPerBlock = facts.max_shared_per_block_bytes;
  record.maxThreadsPerBlock = facts.max_threads_per_block;
  record.computeCapabilityMajor = facts.compute_major;
  record.computeCapabilityMinor = facts.compute_minor;
  record.id = note.device;
  std::memcpy(record.uuid.bytes, facts.uuid, sizeof(facts.uuid));
  record.name = facts.name;
  record.isCudaVisible = 1;
  store(at, record);
}

void fill_context(std::byte* at, const Note& note) {
  ContextLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  record.contextId = note.context;
  record.deviceId = note.device;
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = note.null_stream;
  store(at, record);
}

void fill_stream(std::byte* at, const Note& note) {
  CUpti_ActivityStream record{};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = note.context;
  record.streamId = note.stream;
  record.priority = static_cast<std::uint32_t>(note.priority);
  record.flag = static_cast<CUpti_ActivityStreamFlag>(note.type);
  record.correlationId = note.correlation;
  store(at, record);
}

void fill_memory(std::byte* at, const Note& note) {
  MemoryLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.operation = note.type;
  record.memoryKind = note.memory;
  record.correlationId = note.correlation;
  record.address = note.address;
  record.bytes = note.bytes;
  record.timestamp = note.cupti_start_ns;
  record.processId = own_pid();
  record.deviceId = note.device;
  record.contextId = note.context;
  record.streamId = note.stream;
  record.isAsync = note.is_async ? 1 : 0;
  record.poolType = note.pool;
  record.poolAddress = note.pool_address;
  record.releaseThreshold = note.release_threshold_bytes;
  record.poolSize = note.pool_bytes;
  record.utilizedSize = note.used_bytes;
  store(at, record);
}

void fill_pool(std::byte* at, const Note& note) {
  PoolLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.operation = note.type;
  record.poolType = note.pool;
  record.correlationId = note.correlation;
  record.processId = own_pid();
  record.deviceId = note.device;
  record.address = note.address;
  record.size = note.bytes;
  record.releaseThreshold = note.release_threshold_bytes;
  record.timestamp = note.cupti_start_ns;
  record.utilizedSize = note.used_bytes;
  store(at, record);
}

}  // namespace sim
