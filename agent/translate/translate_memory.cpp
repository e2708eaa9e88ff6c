#include "agent/translate/translate.h"

namespace agent {

void translate_memory(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::MemoryRecord::kKind, sizeof(trace::MemoryRecord))) return;
  const auto& memory = *reinterpret_cast<const CUpti_ActivityMemory3*>(activity);
  auto record = trace::make_record<trace::MemoryRecord>();
  record.operation = static_cast<std::uint8_t>(memory.memoryOperationType);
  record.memory = static_cast<std::uint8_t>(memory.memoryKind);
  copy_members(record, memory);
  record.time_cupti_ns = out.time(memory.timestamp);
  record.address = memory.address;
  record.is_async = memory.isAsync;
  const bool has_pool = memory.memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
  record.pool_address = has_pool ? memory.memoryPoolConfig.address : 0;
  out.append(record);
}

void translate_memory_pool(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::MemoryPoolRecord::kKind, sizeof(trace::MemoryPoolRecord))) return;
  const auto& pool = *reinterpret_cast<const CUpti_ActivityMemoryPool2*>(activity);
  auto record = trace::make_record<trace::MemoryPoolRecord>();
  record.operation = static_cast<std::uint8_t>(pool.memoryPoolOperationType);
  record.pool = static_cast<std::uint8_t>(pool.memoryPoolType);
  copy_members(record, pool);
  record.time_cupti_ns = out.time(pool.timestamp);
  record.address = pool.address;
  record.bytes = pool.size;
  record.used_bytes = pool.utilizedSize;
  record.release_threshold_bytes = pool.releaseThreshold;
  out.append(record);
}

void translate_context(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& context = *reinterpret_cast<const CUpti_ActivityContext*>(activity);
  auto record = trace::make_record<trace::ContextRecord>();
  record.context = context.contextId;
  record.device = context.deviceId;
  record.null_stream = context.nullStreamId;
  out.define_context(record);
}

void translate_stream(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& stream = *reinterpret_cast<const CUpti_ActivityStream*>(activity);
  auto record = trace::make_record<trace::StreamRecord>();
  record.context = stream.contextId;
  record.stream = stream.streamId;
  record.priority = static_cast<std::int32_t>(stream.priority);
  record.flag = static_cast<std::uint16_t>(stream.flag);
  out.define_stream(record);
}

}  // namespace agent
