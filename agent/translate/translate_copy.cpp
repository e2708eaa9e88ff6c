#include "agent/translate/translate.h"

namespace agent {
namespace {

// What a copy and a set have in common, by the same names in CUPTI's structs.
template <typename Record, typename Activity>
Record begin_record(Translation& out, const Activity& activity) {
  const Translation::Times times = out.times(activity.start, activity.end);
  out.note_gpu_work(times.end);
  auto record = trace::make_record<Record>();
  record.flags = activity.flags;
  record.correlation = activity.correlationId;
  record.start_cupti_ns = times.start;
  record.end_cupti_ns = times.end;
  record.bytes = activity.bytes;
  record.stream = activity.streamId;
  record.context = activity.contextId;
  record.device = activity.deviceId;
  record.graph_node = activity.graphNodeId;
  record.graph = activity.graphId;
  return record;
}

template <typename Record, typename Activity>
Record begin_copy(Translation& out, const Activity& activity) {
  auto record = begin_record<Record>(out, activity);
  record.copy_kind = activity.copyKind;
  record.src_memory = activity.srcKind;
  record.dst_memory = activity.dstKind;
  return record;
}

}  // namespace

void translate_memcpy(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::MemcpyRecord::kKind, sizeof(trace::MemcpyRecord))) return;
  out.append(begin_copy<trace::MemcpyRecord>(out, *reinterpret_cast<const CUpti_ActivityMemcpy4*>(activity)));
}

void translate_memcpy_peer(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::MemcpyPeerRecord::kKind, sizeof(trace::MemcpyPeerRecord))) return;
  const auto& copy = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP3*>(activity);
  auto record = begin_copy<trace::MemcpyPeerRecord>(out, copy);
  record.src_device = copy.srcDeviceId;
  record.src_context = copy.srcContextId;
  record.dst_device = copy.dstDeviceId;
  record.dst_context = copy.dstContextId;
  out.append(record);
}

void translate_memset(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::MemsetRecord::kKind, sizeof(trace::MemsetRecord))) return;
  const auto& set = *reinterpret_cast<const CUpti_ActivityMemset3*>(activity);
  auto record = begin_record<trace::MemsetRecord>(out, set);
  record.memory = static_cast<std::uint8_t>(set.memoryKind);
  record.value = set.value;
  out.append(record);
}

}  // namespace agent
