#include "agent/translate/translate.h"

namespace agent {

void translate_graph_launch(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::GraphLaunchRecord::kKind, sizeof(trace::GraphLaunchRecord))) return;
  const auto& launch = *reinterpret_cast<const CUpti_ActivityGraphTrace*>(activity);
  auto record = trace::make_record<trace::GraphLaunchRecord>();
  record.correlation = launch.correlationId;
  const Translation::Times times = out.times(launch.start, launch.end);
  record.start_cupti_ns = times.start;
  record.end_cupti_ns = times.end;
  record.device = launch.deviceId;
  record.context = launch.contextId;
  record.stream = launch.streamId;
  record.graph = launch.graphId;
  out.note_gpu_work(times.end);
  out.append(record);
}

}  // namespace agent
