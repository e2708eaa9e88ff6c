#include "agent/cupti/graph_nodes.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

void append_wide(Translation& out, const CUpti_ActivityKernel5& kernel, Translation::Times times) {
  auto record = trace::make_record<trace::KernelWideRecord>();
  record.shape_ref = out.kernel_shape(kernel, sizeof(record));
  if (record.shape_ref == trace::kNoRef) return;
  record.correlation = kernel.correlationId;
  record.start_cupti_ns = times.start;
  record.end_cupti_ns = times.end;
  record.stream = kernel.streamId;
  record.context = kernel.contextId;
  record.device = kernel.deviceId;
  record.graph_node = kernel.graphNodeId;
  record.graph = kernel.graphId;
  if (kernel.graphNodeId != 0) note_graph_kernel();
  out.append(record);
}

bool is_narrow(const CUpti_ActivityKernel5& kernel, Translation::Times times) {
  return !times.are_odd() && times.end - times.start <= UINT32_MAX &&
         kernel.deviceId <= UINT16_MAX && kernel.graphNodeId == 0 && kernel.graphId == 0;
}

}  // namespace

void translate_kernel(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel5*>(activity);
  const Translation::Times times = out.times(kernel.start, kernel.end);
  out.note_gpu_work(times.end);
  if (!out.room(trace::KernelRecord::kKind, sizeof(trace::KernelWideRecord))) return;
  if (!is_narrow(kernel, times)) return append_wide(out, kernel, times);
  auto record = trace::make_record<trace::KernelRecord>();
  record.shape_ref = out.kernel_shape(kernel, sizeof(record));
  if (record.shape_ref == trace::kNoRef) return;
  record.device = static_cast<std::uint16_t>(kernel.deviceId);
  record.correlation = kernel.correlationId;
  record.start_cupti_ns = times.start;
  record.duration_ns = static_cast<std::uint32_t>(times.end - times.start);
  record.stream = kernel.streamId;
  record.context = kernel.contextId;
  out.append(record);
}

}  // namespace agent
