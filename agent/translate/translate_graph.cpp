#include "agent/translate/translate.h"

namespace agent {

void translate_graph_launch(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::RecordKind::graph_launch, sizeof(trace::GraphLaunchRecord))) return;
  const auto& launch = *reinterpret_cast<const CUpti_ActivityGraphTrace*>(activity);
  auto record = trace::make_record<trace::GraphLaunchRecord>();
  record.correlation = launch.correlationId;
  record.start_cupti_ns = launch.start;
  record.end_cupti_ns = launch.end;
  record.device = launch.deviceId;
  record.context = launch.contextId;
  record.stream = launch.streamId;
  record.graph = launch.graphId;
  out.note_gpu_work(launch.end);
  out.check_times(launch.start, launch.end);
  out.append(record);
}

}  // namespace agent
