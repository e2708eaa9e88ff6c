// Translates GPU work: kernels, copies, memsets and graphs.
#include "agent/cupti/graph_nodes.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

void append_wide(Translation& out, const CUpti_ActivityKernel5& kernel, Translation::Times times) {
  auto record = trace::make_record<trace::KernelWideRecord>();
  record.shape_ref = out.kernel_shape(kernel, sizeof(record));
  if (record.shape_ref == trace::kNoRef) return;
  copy_members(record, kernel);
  record.start_cupti_ns = times.start;
  record.end_cupti_ns = times.end;
  if (kernel.graphNodeId != 0) note_graph_kernel();
  out.append(record);
}

// Members with equal names in CUPTI's structs for copies and memsets.
template <typename Record, typename Activity>
Record begin_record(Translation& out, const Activity& activity) {
  auto record = trace::make_record<Record>();
  out.note_gpu_work(out.set_times(record, activity).end);
  record.flags = activity.flags;
  copy_members(record, activity);
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

void translate_kernel(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel5*>(activity);
  const Translation::Times times = out.times(kernel.start, kernel.end);
  out.note_gpu_work(times.end);
  if (!out.room(trace::KernelRecord::kKind, sizeof(trace::KernelWideRecord))) return;
  const bool is_narrow = !times.are_odd() && times.end - times.start <= UINT32_MAX && kernel.deviceId <= UINT16_MAX &&
                         kernel.graphNodeId == 0 && kernel.graphId == 0;
  if (!is_narrow) return append_wide(out, kernel, times);
  auto record = trace::make_record<trace::KernelRecord>();
  record.shape_ref = out.kernel_shape(kernel, sizeof(record));
  if (record.shape_ref == trace::kNoRef) return;
  copy_members(record, kernel);
  record.start_cupti_ns = times.start;
  record.duration_ns = static_cast<std::uint32_t>(times.end - times.start);
  out.append(record);
}

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

void translate_graph_launch(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::GraphLaunchRecord::kKind, sizeof(trace::GraphLaunchRecord))) return;
  const auto& launch = *reinterpret_cast<const CUpti_ActivityGraphTrace*>(activity);
  auto record = trace::make_record<trace::GraphLaunchRecord>();
  copy_members(record, launch);
  out.note_gpu_work(out.set_times(record, launch).end);
  out.append(record);
}

}  // namespace agent
