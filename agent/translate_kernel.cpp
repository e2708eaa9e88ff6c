#include <cstring>

#include "agent/recorder.h"
#include "agent/translate.h"

namespace agent {
namespace {

void append_wide(Translation& out, const CUpti_ActivityKernel5& kernel) {
  auto record = trace::make_record<trace::KernelWideRecord>();
  record.correlation = kernel.correlationId;
  record.start_cupti_ns = kernel.start;
  record.end_cupti_ns = kernel.end;
  record.shape_ref = out.kernel_shape(kernel);
  record.stream = kernel.streamId;
  record.context = kernel.contextId;
  record.device = kernel.deviceId;
  record.graph_node = kernel.graphNodeId;
  record.graph = kernel.graphId;
  out.append(record);
}

}  // namespace

void translate_kernel(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel5*>(activity);
  const std::size_t name = kernel.name != nullptr ? std::strlen(kernel.name) : 0;
  const std::size_t longest = longest_name(ring());
  const std::size_t room = sizeof(trace::KernelWideRecord) + sizeof(trace::LaunchShapeRecord) +
                           string_room(name < longest ? name : longest);
  if (!out.room(trace::RecordKind::kernel, room)) return;

  const bool fits = kernel.end >= kernel.start && kernel.end - kernel.start <= UINT32_MAX &&
                    kernel.deviceId <= UINT16_MAX && kernel.graphNodeId == 0 && kernel.graphId == 0;
  if (!fits || kernel.end == 0) return append_wide(out, kernel);
  auto record = trace::make_record<trace::KernelRecord>();
  record.device = static_cast<std::uint16_t>(kernel.deviceId);
  record.correlation = kernel.correlationId;
  record.start_cupti_ns = kernel.start;
  record.duration_ns = static_cast<std::uint32_t>(kernel.end - kernel.start);
  record.shape_ref = out.kernel_shape(kernel);
  record.stream = kernel.streamId;
  record.context = kernel.contextId;
  out.append(record);
}

}  // namespace agent
